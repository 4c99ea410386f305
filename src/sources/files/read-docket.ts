/** Reads a docket from a file, in any of the known forms. */
import {
  type ReadDocket,
  type ReadOptions,
  readJuriscraperDocket,
  type UnreadableDocket,
} from '../juriscraper/juriscraper.ts';
import { isOwnDocket, readOwnDocket } from './own-docket.ts';

/** Reads one docket. Never throws. */
export const readDocket = (value: unknown, options: ReadOptions): ReadDocket | UnreadableDocket =>
  isOwnDocket(value) ? readOwnDocket(value, options) : readJuriscraperDocket(value, options);
