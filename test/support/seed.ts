/**
 * What the properties and the drawn faults of all tests follow from: the same inputs in every run, unless somebody looks
 * for others with SEED=random (a new number for this run, printed) or a number of their own.
 */
import { randomInt } from 'node:crypto';

const DEFAULT_SEED = 20_261_130;

/** For `env` of a configuration of Vitest, so that all workers of a run have the same seed. */
export function chooseSeed(wanted = process.env.SEED ?? ''): { readonly SEED: string } {
  if (wanted === 'random') {
    const drawn = randomInt(2 ** 31 - 1);
    process.stderr.write(`SEED=${drawn} repeats the inputs of this run\n`);
    return { SEED: String(drawn) };
  }
  if (wanted !== '' && !/^-?\d{1,10}$/.test(wanted))
    throw new Error(`SEED is a whole number or "random", not ${wanted}`);
  return { SEED: wanted || String(DEFAULT_SEED) };
}

export const SEED = Number(process.env.SEED || DEFAULT_SEED);
