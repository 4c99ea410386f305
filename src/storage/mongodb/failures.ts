/** Maps the driver's errors. */
import {
  BSON,
  MongoAPIError,
  MongoClientClosedError,
  MongoError,
  MongoNotConnectedError,
  MongoServerError,
  MongoTopologyClosedError,
} from 'mongodb';
import { StorageFailure, type StorageFailureCode } from '../storage-failure.ts';

const DUPLICATE_KEY = 11_000;
const CODES: Readonly<Record<number, StorageFailureCode>> = {
  // Unauthorized, AuthenticationFailed
  13: 'storage_denied',
  18: 'storage_denied',
  // OutOfDiskSpace
  14031: 'storage_full',
};
/** Errors that the server finds in a command or a document: a retry would change nothing. */
const FAULTS_OF_THE_CALLER: ReadonlySet<number> = new Set([2, 9, 14, 17, 40, 52, 56, 66, 72, 10334, 17280]);

const CLOSED = [MongoClientClosedError, MongoNotConnectedError, MongoTopologyClosedError];

/** Another process has already created the document that this write would create. */
export const isDuplicate = (error: unknown): boolean => error instanceof MongoError && error.code === DUPLICATE_KEY;

/** Runs an operation and separates failures of the engine from errors in the call. */
export async function guarded<Result>(operation: () => Promise<Result>): Promise<Result> {
  try {
    return await operation();
  } catch (error) {
    throw asStorageFailure(error);
  }
}

function asStorageFailure(error: unknown): unknown {
  if (CLOSED.some((closed) => error instanceof closed)) {
    return new StorageFailure('storage_closed', 'the connection to MongoDB is closed', { cause: error });
  }
  // Everything sent is text and numbers, which can always be encoded, so this error concerns an answer.
  if (BSON.BSONError.isBSONError(error)) {
    return new StorageFailure('storage_unavailable', `MongoDB: the answer cannot be read: ${error.message}`, {
      cause: error,
    });
  }
  // The driver found this error before it contacted a server; a retry would fail the same way.
  if (!(error instanceof MongoError) || error instanceof MongoAPIError || isDuplicate(error)) return error;
  const code = error instanceof MongoServerError && typeof error.code === 'number' ? error.code : null;
  if (code !== null && FAULTS_OF_THE_CALLER.has(code)) return error;
  const known = code === null ? undefined : CODES[code];
  return new StorageFailure(known ?? 'storage_unavailable', `MongoDB: ${error.message}`, { cause: error });
}

/** Retries an operation that lost a race to create a document: on the next attempt the document exists. */
export async function despiteRaces<Result>(operation: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await operation();
    } catch (error) {
      if (!isDuplicate(error) || attempt === MOST_RACES) throw error;
    }
  }
}

const MOST_RACES = 20;
