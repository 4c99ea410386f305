/** `docket sources`, on the embedded storage. */
import { sourcesCases } from './sources-cases.ts';

sourcesCases();
