/** Load on pipelined connections. It only counts bytes, so that it is never the bottleneck. */
import { connect } from 'node:net';

const CONNECTIONS = 16;
const PIPELINED = 4;

/**
 * Requests per second: a GET, or a POST if there is a body. Every answer has the same length, so that counting bytes
 * counts answers.
 */
export async function measure(port, path, headers, requests, body = '') {
  const sized = body === '' ? {} : { 'content-length': Buffer.byteLength(body) };
  const all = { host: `127.0.0.1:${port}`, ...headers, ...sized };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  const text = `${body === '' ? 'GET' : 'POST'} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
  const length = await bytesOfOneAnswer(port, text);
  const each = Math.ceil(requests / CONNECTIONS);
  const began = performance.now();
  await Promise.all(Array.from({ length: CONNECTIONS }, () => drive(port, text, length, each)));
  return (each * CONNECTIONS * 1000) / (performance.now() - began);
}

function bytesOfOneAnswer(port, text) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let bytes = 0;
    let idle;
    socket.on('data', (part) => {
      bytes += part.length;
      clearTimeout(idle);
      idle = setTimeout(() => {
        socket.destroy();
        resolve(bytes);
      }, 50);
    });
    socket.on('error', reject);
    socket.write(text);
  });
}

function drive(port, text, length, count) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let sent = 0;
    let bytes = 0;
    const send = (answered) => {
      const due = Math.min(count, answered + PIPELINED) - sent;
      if (due > 0) socket.write(text.repeat(due));
      sent += Math.max(0, due);
    };
    socket.on('data', (part) => {
      bytes += part.length;
      const answered = Math.floor(bytes / length);
      if (answered >= count) {
        socket.destroy();
        if (bytes === count * length) resolve();
        else reject(new Error(`received ${bytes} bytes for ${count} answers of ${length} bytes`));
      } else send(answered);
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the server closed a connection')));
    send(0);
  });
}
