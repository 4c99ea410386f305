/** What a caller is told of a failure that no rule foresaw. Its cause is for the log alone. */
import { type Problem, problem } from './errors.ts';
import { StorageFailure } from './storage/storage-failure.ts';

/** A storage that fails (a full disk, say) is mended by its operator, and then the same request is answered. */
export const problemOf = (failure: unknown): Problem =>
  failure instanceof StorageFailure
    ? problem('service_unavailable', { component: 'storage', retry_after: 2 })
    : problem('internal_error');
