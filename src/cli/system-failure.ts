/**
 * Explains errors of the operating system and the chain: a port in use, a folder that cannot be used, no endpoint. Only
 * the operator can fix these, so they are shown with a hint and without a stack.
 */

const PORTS = 'set another port with PORT, ADMIN_PORT or SOLANA_LOCAL_PORT (0: any free one)';
const FOLDER = 'Set DATA_DIR to a folder that this user may write to.';

const HOST =
  'Set HOST and ADMIN_HOST to addresses of this machine: 127.0.0.1 or ::1, or 0.0.0.0 or :: for all of them.';

const HINTS: Readonly<Record<string, string>> = {
  EADDRINUSE: `Another process, perhaps this service, already listens there: stop it, or ${PORTS}.`,
  EADDRNOTAVAIL: HOST,
  ENOTFOUND: HOST,
  chain_in_use: 'Stop that process, or give this one another DATA_DIR.',
  chain_unavailable: 'Check SOLANA_RPC_URL and the network; a local chain is started first: docket chain.',
  EEXIST: FOLDER,
  ENOTDIR: FOLDER,
  EROFS: FOLDER,
  ENOENT: FOLDER,
  EPERM: FOLDER,
  ENOSPC: 'Free space on that disk, and run it again.',
};

/** How to fix an error of the operating system; null for any other error. */
export function systemFailureHint(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error)) return null;
  const { code, message } = error;
  if (code === 'EACCES') return /\blisten\b/.test(message) ? `This user may not listen there: ${PORTS}.` : FOLDER;
  return (typeof code === 'string' && Object.hasOwn(HINTS, code) && HINTS[code]) || null;
}
