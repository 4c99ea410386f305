/**
 * Receivers of callbacks on COUNT ports, in a separate process: `node receivers.mjs COUNT TEMPER`. `willing` ones
 * acknowledge at once; `hostile` ones accept the request and dribble an answer that never ends. Prints their ports as
 * one line of JSON.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';

const [count, temper] = process.argv.slice(2);
const ACKNOWLEDGED = 'HTTP/1.1 204 No Content\r\n\r\n';
const DRIBBLE_MS = 1_000;

/** Answers each request on a connection as soon as its last byte arrives: the least a receiver can do. */
function acknowledge(socket) {
  let text = '';
  socket.on('data', (part) => {
    text += part.toString('latin1');
    for (;;) {
      const end = text.indexOf('\r\n\r\n');
      if (end === -1) return;
      const length = Number(/content-length: (\d+)/i.exec(text.slice(0, end))?.[1] ?? 0);
      if (text.length < end + 4 + length) return;
      text = text.slice(end + 4 + length);
      socket.write(ACKNOWLEDGED);
    }
  });
}

function dribble(socket) {
  socket.resume();
  socket.write('HTTP/1.1 200 OK\r\nX-Slow: ');
  const timer = setInterval(() => socket.write('.'), DRIBBLE_MS);
  socket.on('close', () => clearInterval(timer));
}

const behaviour = temper === 'hostile' ? dribble : acknowledge;
const servers = Array.from({ length: Number(count) }, () =>
  createServer((socket) => {
    socket.on('error', () => socket.destroy());
    behaviour(socket);
  }).listen(0, '127.0.0.1'),
);
await Promise.all(servers.map((server) => once(server, 'listening')));
console.log(JSON.stringify(servers.map((server) => server.address().port)));
