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
    'callback_url leads to an address that is not public, or has one such address among its DNS records. Publish public addresses only, 16 at most.',
  url_not_allowed:
    'callback_url is not a URL that callbacks are sent to: http or https, a public host name or address, port 80, 443 or one from 1024 up that is no database or administration port, no user or password, 2,048 characters at most.',
  connect_refused:
    'Nothing accepts connections at the host and port of callback_url. Start the receiver, or open the port in its firewall.',
  connect_timeout:
    'The host of callback_url did not take the connection in time. A firewall that drops packets looks like this.',
  tls_invalid:
    'No trusted TLS connection could be made: a certificate for this host name that is in date and signed by a public authority (with its intermediate certificates), on TLS 1.2 or later, is needed. A plain HTTP server on that port looks like this, too.',
  timeout: 'The receiver did not answer within 10 seconds. Acknowledge with a 2xx at once and do the work afterwards.',
  http_3xx: 'The receiver answered with a redirect, which is not followed. Give the final URL as callback_url.',
  http_4xx:
    'The receiver refused the delivery. Check that its path takes POST, and what its verification of the signature says: docket callbacks verify tells why one does not match.',
  http_5xx: 'The receiver failed while it took the delivery. Its own log says why.',
  reset:
    'The receiver closed the connection before it had answered. Its log, or that of the proxy before it, says why.',
  response_too_large:
    'The receiver sent more headers, or more informational responses, than one answer may have. A short 2xx is all that is needed.',
  protocol_error:
    'What the receiver sent is not HTTP/1.1. Check that an HTTP server listens there, and that http and https are not mixed up.',
  interrupted: 'The service stopped during the attempt, so its outcome is not known. It is made again by itself.',
  content_withdrawn: 'The service has withdrawn the answer since, so it is no longer sent. Query the case again.',
  content_damaged:
    'What was to be sent is damaged in the storage of the service, whose operator has been told. It is tried again on schedule and sent once it is restored; until then the same answer may be at its result URL.',
};

/** What the owner of a receiver can do about a failure: one or two sentences, shown in the delivery history. */
export const hintOf = (failureClass: FailureClass): string => HINTS[failureClass];
