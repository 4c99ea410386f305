/** The error that callers get for an unexpected failure. Its cause goes only to the log. */
import { type Problem, problem } from './errors.ts';
import { StorageFailure } from './storage/storage-failure.ts';

/** When an operator has fixed a storage failure (such as a full disk), the same request succeeds. */
export const problemOf = (failure: unknown): Problem =>
  failure instanceof StorageFailure
    ? problem('service_unavailable', { component: 'storage', retry_after: 2 })
    : problem('internal_error');
