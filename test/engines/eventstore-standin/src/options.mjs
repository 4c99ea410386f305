// The command line.
import { parseArgs } from 'node:util';

export const HELP = `eventstore-standin: a test double for EventStoreDB. It is not EventStoreDB; do not keep data in it that you need.

  --db DIR            keep events in DIR; what was acknowledged survives kill -9
  --mem-db            keep events in memory only
  --cluster N         N nodes (3 to 9) with one leader, on N ports: PORT and the following ones
  --port PORT         gRPC port (default 2113; 0 chooses a free one)
  --host ADDRESS      address to listen on (default 127.0.0.1)
  --control-port PORT HTTP port for faults (default: none; 0 chooses a free one)
  --live-buffer N     drop live subscribers that are more than N events behind (default: 64 events and 128 KiB;
                      a node under load drops from 32 on)
  --fault NAME[?parameter=value&…]
                      starts with a fault; may be repeated
  --help

It prints "listening on PORT" (for a cluster "listening on PORT,PORT,PORT") when it is ready, and "control on PORT" before that if there is a control port.

  eventstore-standin --mem-db --port 0
  eventstore-standin --db ./events --control-port 2114
  eventstore-standin --mem-db --fault 'silent?written=false&count=1'
`;

/** `{ help }`, or the options; throws an Error that says what is wrong. */
export function readOptions(argv) {
  const { values } = parseArgs({
    args: argv,
    options: {
      db: { type: 'string' },
      'mem-db': { type: 'boolean' },
      cluster: { type: 'string' },
      port: { type: 'string', default: '2113' },
      host: { type: 'string', default: '127.0.0.1' },
      'control-port': { type: 'string' },
      'live-buffer': { type: 'string' },
      fault: { type: 'string', multiple: true, default: [] },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) return { help: true };
  if (!values.db === !values['mem-db']) throw new Error('give either --db DIR or --mem-db');
  return {
    directory: values.db,
    host: values.host,
    cluster: values.cluster === undefined ? undefined : size(values.cluster),
    port: port('--port', values.port),
    controlPort: values['control-port'] === undefined ? undefined : port('--control-port', values['control-port']),
    hold:
      values['live-buffer'] === undefined
        ? undefined
        : { events: whole('--live-buffer', values['live-buffer']), bytes: 0 },
    faults: values.fault,
  };
}

function size(text) {
  if (!/^[3-9]$/.test(text)) throw new Error(`--cluster must be a number from 3 to 9, not ${text}`);
  return Number(text);
}

function whole(name, text) {
  if (!/^\d{1,6}$/.test(text)) throw new Error(`${name} must be a whole number, not ${text}`);
  return Number(text);
}

function port(name, text) {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new Error(`${name} must be a port number, not ${text}`);
  return Number(text);
}
