/** A wall clock of services that a test moves while they run (`clock.cjs`); their steady clock is unchanged. */
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PRELOADED = fileURLToPath(new URL('clock.cjs', import.meta.url));

export interface MovedClock {
  /** For the processes that use this clock. */
  readonly environment: NodeJS.ProcessEnv;
  /** Sets it forward, or back, by milliseconds. */
  move(milliseconds: number): void;
  /** What it shows, milliseconds since 1970. */
  now(): number;
}

export function movedClock(directory: string): MovedClock {
  const file = join(directory, 'clock');
  let shift = 0;
  return {
    environment: { CLOCK_SHIFT_FILE: file, NODE_OPTIONS: `--require=${JSON.stringify(PRELOADED)}` },
    move(milliseconds) {
      shift += milliseconds;
      // Atomically: a half-written file would reset the clock.
      writeFileSync(`${file}.next`, String(shift));
      renameSync(`${file}.next`, file);
    },
    now: () => Date.now() + shift,
  };
}
