/** `docket sources`, on the embedded storage. */
import { sourcesCases } from './cases.ts';

sourcesCases();
