/** The test vectors of `examples/verifier`: what each file is, and what a verifier must say of it. */
import { addLogs } from './verifier-vectors/logs.ts';
import { addProofs } from './verifier-vectors/proofs.ts';
import { addUnreadableLogs } from './verifier-vectors/unreadable-logs.ts';
import { VectorSet, type Vectors } from './verifier-vectors/vector-set.ts';

export async function verifierVectors(): Promise<Vectors> {
  const set = new VectorSet();
  await addLogs(set);
  await addUnreadableLogs(set);
  await addProofs(set);
  return set;
}
