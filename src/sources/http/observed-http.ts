/** The requests of one source, counted and measured. */
import type { SourceFault } from '../source.ts';
import type { SourceHttp, SourceResponse } from './source-http.ts';

/** How a request ended: in the words of faults, for metrics. */
export type RequestOutcome = 'ok' | 'not_modified' | 'not_found' | SourceFault;

/** Closing it closes nothing: the connections belong to the original. */
export const observedHttp = (
  http: SourceHttp,
  observe: (outcome: RequestOutcome, seconds: number) => void,
): SourceHttp => ({
  async send(request) {
    const startedAt = performance.now();
    const sent = await http.send(request);
    observe('fault' in sent ? sent.fault : outcomeOf(sent), (performance.now() - startedAt) / 1_000);
    return sent;
  },
  close: async () => undefined,
});

const OUTCOMES: Readonly<Record<number, RequestOutcome>> = {
  304: 'not_modified',
  400: 'bad_request',
  401: 'unauthorised',
  403: 'forbidden',
  404: 'not_found',
};

function outcomeOf({ status, headers }: SourceResponse): RequestOutcome {
  if (status >= 200 && status < 300) return 'ok';
  if (status === 429) return headers['retry-after'] === undefined ? 'blocked' : 'throttled';
  return OUTCOMES[status] ?? (status >= 500 ? 'unavailable' : 'unreadable');
}
