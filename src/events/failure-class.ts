/** Why an attempt to deliver a callback failed, in classes that an agent can act on. */
import { z } from 'zod';

export const FailureClass = z.enum([
  'dns_not_found',
  'dns_timeout',
  'address_not_public',
  'url_not_allowed',
  'connect_refused',
  'connect_timeout',
  'tls_invalid',
  'timeout',
  'http_3xx',
  'http_4xx',
  'http_5xx',
  'reset',
  'response_too_large',
  'protocol_error',
  'interrupted',
  'content_withdrawn',
  'content_damaged',
]);
export type FailureClass = z.infer<typeof FailureClass>;

const HINTS: Readonly<Record<FailureClass, string>> = {
  dns_not_found:
    'The host of callback_url has no address in public DNS. Check its spelling, and that its A or AAAA record is published.',
  dns_timeout:
    "The DNS servers of callback_url's host did not answer in time, or answered with an error. Check the name servers of its zone.",
  address_not_public:
    'The host of callback_url has a non-public address among its DNS records, or is one itself. Publish only public addresses, at most 16.',
  url_not_allowed:
    'callback_url is not allowed. Use http or https, a public host name or address, no user or password, and at most 2,048 characters. The port must be 80, 443, or 1024 and above, except database and administration ports.',
  connect_refused:
    'No server accepts connections at the host and port of callback_url. Start the receiver, or open the port in its firewall.',
  connect_timeout:
    'The host of callback_url did not accept the connection in time. A firewall that drops packets causes this.',
  tls_invalid:
    'No trusted TLS connection could be made. The receiver needs TLS 1.2 or later and a current certificate for this host name, signed by a public authority (with its intermediate certificates). A plain HTTP server on that port also causes this.',
  timeout:
    'The receiver did not answer within 10 seconds. Acknowledge with a 2xx immediately and do the work afterwards.',
  http_3xx: 'The receiver answered with a redirect, which is not followed. Use the final URL as callback_url.',
  http_4xx:
    'The receiver rejected the delivery. Check that its path accepts POST, and whether its signature verification fails: docket callbacks verify explains why a signature does not match.',
  http_5xx: 'The receiver failed while it processed the delivery. Check its log.',
  reset: 'The receiver closed the connection before it answered. Check its log, or that of the proxy in front of it.',
  response_too_large: 'The receiver sent more headers or informational responses than allowed. A short 2xx is enough.',
  protocol_error:
    'The receiver did not answer with HTTP/1.1. Check that an HTTP server listens there, and that http and https are not mixed up.',
  interrupted: 'The service stopped during the attempt, so its outcome is unknown. It is retried automatically.',
  content_withdrawn: 'The service has since withdrawn the answer, so it is no longer sent. Query the case again.',
  content_damaged:
    'The stored content of the delivery is damaged; the operator of the service was alerted. It is retried on schedule and sent once it is restored; until then the same answer may be available at its result URL.',
};

/** What the owner of a receiver can do about a failure: one to three sentences, shown in the delivery history. */
export const hintOf = (failureClass: FailureClass): string => HINTS[failureClass];
