/** Faults of requests to sources, in the words of the port. No reason contains a path, a query or a header. */
import { AttemptFailure } from '../../callbacks/outbound/attempt-failure.ts';
import type { FailureClass } from '../../events/failure-class.ts';
import type { Fault, SourceFault } from '../source.ts';

/** Why a request ended without a response that can be used. */
export class HttpFault extends Error {
  readonly code = 'http_fault';
  constructor(
    readonly fault: SourceFault,
    message: string,
  ) {
    super(message);
    this.name = 'HttpFault';
  }
}

const FAULT_OF: Readonly<Partial<Record<FailureClass, SourceFault>>> = {
  url_not_allowed: 'refused_address',
  address_not_public: 'refused_address',
  dns_not_found: 'connection',
  dns_timeout: 'connection',
  connect_refused: 'connection',
  connect_timeout: 'timeout',
  tls_invalid: 'connection',
  timeout: 'timeout',
  reset: 'connection',
  response_too_large: 'too_large',
  protocol_error: 'unreadable',
  interrupted: 'interrupted',
};

const LONGEST_REASON = 200;

export function faultOf(error: unknown): Fault {
  const told = (fault: SourceFault, reason: string): Fault => ({
    fault,
    reason: reason.slice(0, LONGEST_REASON),
    retryAt: null,
  });
  if (error instanceof HttpFault) return told(error.fault, error.message);
  if (error instanceof AttemptFailure) return told(FAULT_OF[error.failureClass] ?? 'connection', error.message);
  // Our own fault: its message may hold anything.
  return told('interrupted', `the request failed here: ${error instanceof Error ? error.name : 'unknown'}`);
}
