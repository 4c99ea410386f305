// Starts the stand-in from the command line and ends it on a signal.
import { Cluster } from './cluster.mjs';
import { control } from './control.mjs';
import { Database } from './database.mjs';
import { LogFile } from './log-file.mjs';
import { HELP, readOptions } from './options.mjs';
import { serve } from './server.mjs';

export async function main(argv) {
  const options = readOptions(argv);
  if (options.help) {
    process.stdout.write(HELP);
    return;
  }

  const database = new Database();
  const log =
    options.directory &&
    (await LogFile.open(
      options.directory,
      (transaction) => database.replay(transaction),
      (bytes) =>
        process.stderr.write(`removed ${bytes} bytes of an append that was cut short and never acknowledged\n`),
    ));
  database.open(log);
  const listen = { database, host: options.host, port: options.port, hold: options.hold };
  const cluster = options.cluster && (await Cluster.open({ ...listen, size: options.cluster }));
  const node = cluster ?? (await serve(listen));
  for (const fault of options.faults) {
    const [name, query] = fault.split('?');
    node.faults.set(name, new URLSearchParams(query));
  }

  const state = () => ({
    standin: true,
    port: cluster ? cluster.ports : node.port,
    records: database.records.length,
    position: database.endPosition,
    subscriptions: node.faults.subscriptions,
    durable: !!log,
  });
  const controls =
    options.controlPort === undefined
      ? undefined
      : await control({ host: options.host, port: options.controlPort, faults: node.faults, state, cluster });

  const stop = () => {
    node.close();
    controls?.close();
    database.close();
    process.exit(0);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);

  process.stderr.write('EventStoreDB stand-in: a test double, not EventStoreDB\n');
  if (controls) process.stdout.write(`control on ${controls.port}\n`);
  process.stdout.write(`listening on ${cluster ? cluster.ports.join(',') : node.port}\n`);
}
