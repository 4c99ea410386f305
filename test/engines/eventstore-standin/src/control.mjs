// The control port: plain HTTP for tests that inspect the stand-in or inject faults.
import { createServer } from 'node:http';
import { LASTING, MOMENTARY } from './faults.mjs';

/** Resolves to the port. `state()` is what /health returns. */
export function control({ host, port, faults, state, cluster }) {
  const server = createServer(async (request, response) => {
    const reply = (code, body) => {
      response.writeHead(code, { 'content-type': 'application/json' });
      response.end(`${JSON.stringify(body)}\n`);
    };
    const url = new URL(request.url, 'http://standin');
    const [, area, name, ...rest] = url.pathname.split('/');
    if (request.method === 'GET' && area === 'health' && !name) return reply(200, state());
    if (area === 'cluster' && cluster && !rest.length) {
      try {
        if (request.method === 'POST') await command(cluster, name, url.searchParams);
        return reply(200, cluster.state);
      } catch (error) {
        return reply(400, { error: error.message });
      }
    }
    if (area !== 'faults' || rest.length)
      return reply(404, {
        error: 'there are GET /health, GET /faults, POST /faults/NAME, DELETE /faults and DELETE /faults/NAME',
      });
    try {
      if (request.method === 'GET')
        return reply(200, { active: faults.active, lasting: describe(LASTING), momentary: describe(MOMENTARY) });
      if (request.method === 'POST' && name) {
        faults.set(name, url.searchParams);
        return reply(200, { active: faults.active });
      }
      if (request.method === 'DELETE') {
        faults.clear(name);
        return reply(200, { active: faults.active });
      }
      return reply(405, { error: 'GET, POST or DELETE' });
    } catch (error) {
      return reply(400, { error: error.message });
    }
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () =>
      resolve({
        port: server.address().port,
        close: () => {
          server.close();
          server.closeAllConnections();
        },
      }),
    );
  });
}

/** The commands of a cluster. Answered once the command is done; a leader change once the new leader is ready. */
async function command(cluster, name, given) {
  const ms = (key, otherwise) => {
    const text = given.get(key) ?? String(otherwise);
    if (!/^\d{1,7}$/.test(text)) throw new Error(`${key} must be a whole number`);
    return Number(text);
  };
  const node = given.has('node') ? cluster.node(ms('node')) : undefined;
  const how = given.get('how') ?? 'kill';
  if (!['kill', 'resign', 'freeze'].includes(how)) throw new Error('how must be kill, resign or freeze');
  const commands = {
    change: () => cluster.change({ how, electionMs: ms('election', 300), thawMs: ms('thaw', 300) }),
    kill: () => cluster.kill(node),
    freeze: () => cluster.freeze(node),
    'lose-majority': () => cluster.loseMajority(),
    recover: () => cluster.recover(),
  };
  if (!Object.hasOwn(commands, name)) throw new Error(`there are ${Object.keys(commands).join(', ')}`);
  await commands[name]();
}

const describe = (faults) =>
  Object.fromEntries(
    Object.entries(faults).map(([name, { does, ...parameters }]) => [
      name,
      { does, parameters: Object.keys(parameters) },
    ]),
  );
