/** The benchmark's access to the chain: plain JSON-RPC over HTTP. */

/** @throws Error with the method and the endpoint's message */
export function rpcClient(url) {
  let id = 0;
  return async function call(method, ...params) {
    id += 1;
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
    });
    const { result, error } = await response.json();
    if (error) throw new Error(`${method}: ${error.message} (${error.code})`);
    return result;
  };
}

/** Base units that a token account holds. */
export async function tokenBalance(call, account) {
  const { value } = await call('getTokenAccountBalance', account, { commitment: 'confirmed' });
  return BigInt(value.amount);
}

/** Applies `work` to every item, at most `width` at a time; results in the order of the items. */
export async function inParallel(items, width, work) {
  const results = new Array(items.length);
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const index = next;
      next += 1;
      results[index] = await work(items[index], index);
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, worker));
  return results;
}
