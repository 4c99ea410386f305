/**
 * Names of lease owners, one for each thread of each process. On the same machine, a name also shows whether its
 * process is still alive: after a `kill -9` the next start need not wait until the old leases expire.
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';

/** When this process started, on the clock that counts from the boot of the machine; the same in all of its threads. */
const STARTED_AT_MS = Number(process.hrtime.bigint()) / 1e6 - process.uptime() * 1000;
/** Much more than the imprecision of that clock, and less than any restart takes. */
const SAME_START_MS = 50;
const THIS_THREAD = `${hostname()}/${process.pid}/${Math.round(STARTED_AT_MS)}/${randomUUID()}`;

/** The name under which this thread acquires leases. */
export const leaseOwner = (): string => THIS_THREAD;

/** The name of a part of a process that acquires leases beside its main thread. */
export const partOf = (owner: string, part: string): string => `${owner}-${part}`;

/** Whether a lease is held by a process or by a part of it. */
export const isHeldBy = (owner: string, process: string): boolean =>
  owner === process || owner.startsWith(partOf(process, ''));

/** True only if it is certain that the owner was a process of this machine and is gone. */
export function isDeadOwner(owner: string): boolean {
  const [host, pid, startedAt] = owner.split('/');
  if (host !== hostname() || !isNumber(pid) || !isNumber(startedAt)) return false;
  // In a container, every start has the same process id.
  if (Number(pid) === process.pid) return Math.abs(Number(startedAt) - STARTED_AT_MS) > SAME_START_MS;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

const isNumber = (text: string | undefined): text is string => text !== undefined && /^[1-9]\d*$/.test(text);
