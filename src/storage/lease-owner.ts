/**
 * Names of lease owners, one for each process. On one machine a name also tells whether its process still lives: after
 * a `kill -9` the next start need not wait until the leases of the dead one expire.
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';

const INSTANCE = randomUUID();
const THIS_PROCESS = `${hostname()}/${process.pid}/${INSTANCE}`;

/** The name under which this process takes leases. */
export const leaseOwner = (): string => THIS_PROCESS;

/** True only where it is certain: the owner was a process of this machine and is gone. */
export function isDeadOwner(owner: string): boolean {
  const [host, pid, instance] = owner.split('/');
  if (host !== hostname() || !pid || !instance || !/^[1-9]\d*$/.test(pid)) return false;
  // In a container every start has the same process id.
  if (Number(pid) === process.pid) return instance !== INSTANCE;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
