/** The thread that commits the log, started by `log-thread.ts`. It has its own connection to the same file. */
import { parentPort, workerData } from 'node:worker_threads';
import { Checkpointer } from './checkpointer.ts';
import { commitTogether } from './commit-together.ts';
import { type FromLogThread, type LogThreadData, outcomeToSend, type ToLogThread } from './log-thread-messages.ts';
import { logWriter } from './log-writes.ts';
import { LOG_LANDMARKS, LOG_MIGRATIONS } from './schema.ts';
import { SqliteFile } from './sqlite-file.ts';

const port = parentPort;
if (!port) throw new Error('log-thread-entry.ts must run in a worker thread');

/** The number of groups between two checkpoints of the other database: a second or less under load. */
const GROUPS_BETWEEN_CHECKPOINTS = 64;

const { path, opened, alsoCheckpoints } = workerData as LogThreadData;
const file = new SqliteFile({
  path,
  synchronous: 'FULL',
  migrations: LOG_MIGRATIONS,
  landmarks: LOG_LANDMARKS,
  opened,
});
const write = logWriter(file.database);
const other = alsoCheckpoints === null ? null : new Checkpointer(alsoCheckpoints);
let groups = 0;
const say = (message: FromLogThread): void => port.postMessage(message);

port.on('message', async (message: ToLogThread) => {
  if (message === 'end') {
    other?.close();
    file.close();
    port.close();
    return;
  }
  const outcomes = await commitTogether(
    file,
    message.map((each) => () => write(each)),
  );
  say(outcomes.map(outcomeToSend));
  groups++;
  if (groups % GROUPS_BETWEEN_CHECKPOINTS === 0) other?.checkpoint();
});
say('ready');
