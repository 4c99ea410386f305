/** Reads a docket from a file, in any of the known forms. */
import { type ReadDocket, type ReadOptions, type Refusal, readJuriscraperDocket } from '../juriscraper/juriscraper.ts';
import { isOwnDocket, readOwnDocket } from './own-docket.ts';

/** Reads one docket. Never throws. */
export const readDocket = (value: unknown, options: ReadOptions): ReadDocket | Refusal =>
  isOwnDocket(value) ? readOwnDocket(value, options) : readJuriscraperDocket(value, options);
