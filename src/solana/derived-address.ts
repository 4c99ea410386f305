/**
 * Program-derived addresses. Computed here, so that the local chain's process and the command line need not load a
 * whole client library for one hash. `test/solana/addresses.test.ts` compares them with `@solana/web3.js`.
 */
import { createHash } from 'node:crypto';

const P = 2n ** 255n - 19n;
const MARKER = Buffer.from('ProgramDerivedAddress');

const modulo = (value: bigint): bigint => {
  const rest = value % P;
  return rest < 0n ? rest + P : rest;
};

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let square = base;
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % P;
    square = (square * square) % P;
  }
  return result;
}

/** The curve's constant d = -121665/121666. */
const D = modulo(-121_665n * power(121_666n, P - 2n));

/** Whether 32 bytes are a point of Curve25519. Only such an address can have a private key. */
export function isOnCurve(bytes: Uint8Array): boolean {
  const encoded = Buffer.from(bytes).reverse();
  const sign = (encoded[0] ?? 0) >> 7;
  encoded[0] = (encoded[0] ?? 0) & 0x7f;
  const y = modulo(BigInt(`0x${encoded.toString('hex')}`));
  const ySquared = (y * y) % P;
  const numerator = modulo(ySquared - 1n);
  // x² = (y² − 1) / (d·y² + 1). Euler's criterion detects a square; multiplying by the denominator's square does not
  // change the result.
  const xSquaredScaled = (numerator * modulo(D * ySquared + 1n)) % P;
  if (xSquaredScaled === 0n) return sign === 0;
  return power(xSquaredScaled, (P - 1n) / 2n) === 1n;
}

/**
 * The address that a program owns for these seeds, with the first bump, counted down from 255, that is off the curve.
 */
export function deriveProgramAddress(seeds: readonly Uint8Array[], program: Uint8Array): Buffer {
  for (let bump = 255; bump >= 0; bump--) {
    const hash = createHash('sha256');
    for (const seed of seeds) hash.update(seed);
    const candidate = hash.update(Buffer.of(bump)).update(program).update(MARKER).digest();
    if (!isOnCurve(candidate)) return candidate;
  }
  throw new Error('these seeds have no program-derived address');
}
