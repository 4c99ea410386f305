import { once } from 'node:events';
import { connect } from 'node:net';

/** The fields of a body that tests read; a test that reads a missing one fails. */
export interface AnswerBody {
  readonly meta: Record<string, unknown>;
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly documentation_url: string;
    readonly details: Record<string, unknown>;
  };
  readonly [member: string]: unknown;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: AnswerBody;
}

/** Sends bytes exactly as given and reads until the server closes the connection. */
export async function sendRaw(port: number, bytes: string | Buffer, { patienceMs = 30_000 } = {}): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  socket.setEncoding('utf8');
  socket.on('data', (part) => {
    received += part;
  });
  socket.on('error', () => {});
  socket.write(bytes);
  const timer = setTimeout(() => socket.destroy(), patienceMs);
  await once(socket, 'close');
  clearTimeout(timer);
  return received;
}

/** One request whose target, method and headers are sent unchanged; the connection ends with its answer. */
export async function rawRequest(
  port: number,
  target: string,
  {
    method = 'GET',
    headers = {},
    body = '',
  }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<RawAnswer> {
  const all = { host: 'service.example', connection: 'close', ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return parseAnswer(await sendRaw(port, [`${method} ${target} HTTP/1.1`, ...lines, '', body].join('\r\n')));
}

/** The first answer in what a server sent. */
export function parseAnswer(received: string): RawAnswer {
  const split = received.indexOf('\r\n\r\n');
  const [first = '', ...lines] = received.slice(0, split).split('\r\n');
  const headers = new Headers(lines.map((line) => line.split(/: ?(.*)/s).slice(0, 2) as [string, string]));
  let text = received.slice(split + 4);
  if (headers.get('transfer-encoding') === 'chunked') text = dechunk(text);
  return { status: Number(first.split(' ')[1]), headers, text, json: parsed(text) };
}

function dechunk(text: string): string {
  let rest = text;
  let whole = '';
  for (;;) {
    const end = rest.indexOf('\r\n');
    const length = Number.parseInt(rest.slice(0, end), 16);
    if (!(length > 0)) return whole;
    whole += rest.slice(end + 2, end + 2 + length);
    rest = rest.slice(end + 2 + length + 2);
  }
}

function parsed(text: string): AnswerBody {
  try {
    return JSON.parse(text);
  } catch {
    return { meta: {}, error: { code: 'not JSON', message: text, documentation_url: '', details: {} } };
  }
}
