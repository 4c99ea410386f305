/** Requests by the platform's client, with a shorter time limit than the service's, for tests. */
import type { SourceHttp } from '../../../src/sources/http/source-http.ts';

export function plainHttp(limitMs = 500): SourceHttp {
  return {
    async send({ url, headers = {}, maxBytes, signal }) {
      const limit = AbortSignal.timeout(limitMs);
      try {
        const response = await fetch(url, { headers, signal: signal ? AbortSignal.any([signal, limit]) : limit });
        const chunks: Uint8Array[] = [];
        let bytes = 0;
        for await (const chunk of response.body ?? []) {
          bytes += chunk.length;
          if (bytes > maxBytes) return { fault: 'too_large', reason: `more than ${maxBytes} bytes`, retryAt: null };
          chunks.push(chunk);
        }
        return { status: response.status, headers: Object.fromEntries(response.headers), body: Buffer.concat(chunks) };
      } catch (error) {
        const fault = limit.aborted ? 'timeout' : 'connection';
        return { fault, reason: String(error).slice(0, 200), retryAt: null };
      }
    },
    close: async () => {},
  };
}
