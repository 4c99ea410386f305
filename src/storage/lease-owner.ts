/**
 * Names of lease owners, one for each thread of each process. On the same machine, a name also shows whether its
 * process is still alive: after a `kill -9` the next start need not wait until the old leases expire.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';

/** When this process started, on the clock that counts from the boot of the machine; the same in all of its threads. */
const STARTED_AT_MS = Number(process.hrtime.bigint()) / 1e6 - process.uptime() * 1000;
/** Much more than the imprecision of that clock, and less than any restart takes. */
const SAME_START_MS = 50;
/** Differs between machines of one host name, as clones have. The same in all containers of a machine; '' if unknown. */
const THIS_BOOT = linuxFile('/proc/sys/kernel/random/boot_id').trim();
const THIS_THREAD = [hostname(), process.pid, Math.round(STARTED_AT_MS), THIS_BOOT, randomUUID()].join('/');

/** The name under which this thread acquires leases. */
export const leaseOwner = (): string => THIS_THREAD;

/** The name of a part of a process that acquires leases beside its main thread. */
export const partOf = (owner: string, part: string): string => `${owner}-${part}`;

/** Whether a lease is held by a process or by a part of it. */
export const isHeldBy = (owner: string, process: string): boolean =>
  owner === process || owner.startsWith(partOf(process, ''));

/** True only if it is certain that the owner was a process of this machine, since its last boot, and is gone. */
export const isDeadOwner = (owner: string): boolean => bootOf(owner) === THIS_BOOT && isGoneHere(owner);

/** For what no other machine of this host name can have left: gone, too, is who worked before the last boot. */
export const isDeadLocalOwner = (owner: string): boolean =>
  (owner.startsWith(`${hostname()}/`) && bootOf(owner) !== THIS_BOOT) || isGoneHere(owner);

function isGoneHere(owner: string): boolean {
  const [host, pid, startedAt] = owner.split('/');
  if (host !== hostname() || !isNumber(pid) || !isNumber(startedAt)) return false;
  // In a container, every start has the same process id.
  if (Number(pid) === process.pid) return Math.abs(Number(startedAt) - STARTED_AT_MS) > SAME_START_MS;
  try {
    process.kill(Number(pid), 0);
    return isZombie(pid);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/** Names of earlier versions do not say it: they count as of this boot. */
function bootOf(owner: string): string {
  const [, , , boot, thread] = owner.split('/');
  return thread === undefined ? THIS_BOOT : (boot ?? '');
}

/** A process that has ended keeps its id until its parent takes note, which some never do. */
function isZombie(pid: string): boolean {
  // The state follows the name, which may hold anything, `)` included.
  const [state] = linuxFile(`/proc/${pid}/stat`).replace(/^.*\) /s, '');
  return state === 'Z' || state === 'X';
}

/** '' if there is none, as on other systems. */
function linuxFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

const isNumber = (text: string | undefined): text is string => text !== undefined && /^[1-9]\d*$/.test(text);
