/** The key of the sandbox. It is published, so that a receiver can be built without a wallet, and it proves nothing. */

/** The wallet whose keys the sandbox shows: an address without a known secret key. */
export const SANDBOX_WALLET = 'SandboxWa11et111111111111111111111111111111';
export const SANDBOX_KEY_ID = 'sandbox';
export const SANDBOX_SECRET = '0123456789abcdef'.repeat(4);
