/** A name server on this machine whose answers a test chooses, so that no test uses the network's. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';

/** The answer to a query: addresses of both families, a DNS error, or silence. */
export type DnsAnswer = readonly string[] | 'NXDOMAIN' | 'SERVFAIL' | 'silence';

export interface DnsServer {
  /** `address:port`, as a resolver accepts it. */
  readonly address: string;
  /** Names asked for, one entry for each query. */
  readonly asked: string[];
  close(): Promise<void>;
}

const TYPE_A = 1;
const TYPE_AAAA = 28;
const RESPONSE_CODES = { NXDOMAIN: 3, SERVFAIL: 2 } as const;

/** @param answer is called with the name and the requested family */
export async function startDnsServer(answer: (name: string, family: 4 | 6) => DnsAnswer): Promise<DnsServer> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (query, from) => {
    const { name, end } = readName(query);
    const type = query.readUInt16BE(end);
    asked.push(name);
    const reply = answer(name, type === TYPE_AAAA ? 6 : 4);
    if (reply !== 'silence') socket.send(response(query.subarray(0, end + 4), type, reply), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    close: () => new Promise((done) => socket.close(() => done())),
  };
}

function readName(query: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at]!; length !== 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 };
}

function response(question: Buffer, type: number, reply: readonly string[] | 'NXDOMAIN' | 'SERVFAIL'): Buffer {
  const wanted = typeof reply === 'string' ? [] : reply.filter((address) => isIPv6(address) === (type === TYPE_AAAA));
  const answers = type === TYPE_A || type === TYPE_AAAA ? wanted : [];
  const head = Buffer.from(question);
  head.writeUInt16BE(0x8180 | (typeof reply === 'string' ? RESPONSE_CODES[reply] : 0), 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(answers.length, 6);
  head.writeUInt32BE(0, 8);
  return Buffer.concat([head, ...answers.map((address) => record(type, address))]);
}

function record(type: number, address: string): Buffer {
  const data = type === TYPE_A ? Buffer.from(address.split('.').map(Number)) : ipv6Bytes(address);
  const start = Buffer.alloc(12);
  start.writeUInt16BE(0xc00c, 0);
  start.writeUInt16BE(type, 2);
  start.writeUInt16BE(1, 4);
  start.writeUInt32BE(0, 6);
  start.writeUInt16BE(data.length, 10);
  return Buffer.concat([start, data]);
}

/** Addresses of tests are written without a dotted end. */
function ipv6Bytes(address: string): Buffer {
  const [before = '', after = ''] = address.split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)));
  const [head, tail] = [groups(before), groups(after)];
  const all = [...head, ...new Array<number>(8 - head.length - tail.length).fill(0), ...tail];
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 255]));
}
