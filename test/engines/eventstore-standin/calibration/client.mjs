// What the client learns about the node, and mistakes that harm the client itself (each in a separate process).
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const OURS = /streams\.streams|gossip|server_features/;

/** Runs one mistake in a child process, so that a crash of the client is a result and does not end the run. */
function mistake(kit, name) {
  return new Promise((resolve) => {
    const child = spawn(
      process.execPath,
      [fileURLToPath(new URL('./mistake.mjs', import.meta.url)), kit.url, name, kit.run],
      {
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    let out = '',
      err = '';
    child.stdout.on('data', (chunk) => {
      out += chunk;
    });
    child.stderr.on('data', (chunk) => {
      err += chunk;
    });
    const timer = setTimeout(() => child.kill('SIGKILL'), 20_000);
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({
        said: out
          .trim()
          .split('\n')
          .filter(Boolean)
          .map((line) => kit.plain(JSON.parse(line))),
        exitCode: code,
        crash: /TypeError: [^\n]*/.exec(err)?.[0],
      });
    });
  });
}

export const probes = {
  async features(kit) {
    const features = await kit.client.capabilities;
    const all = ['read', 'append', 'delete', 'tombstone', 'batchAppend'];
    const { StreamsService } = (await import('../src/protocol.mjs')).services;
    return {
      version: features.serverVersion.replace(/-.*/, ''),
      supported: Object.fromEntries(all.map((name) => [name, features.supports(StreamsService[name])])),
      readFeatures: ['position', 'events'].map((f) => features.supports(StreamsService.read, f)),
      batchFeatures: features.supports(StreamsService.batchAppend, 'deadline_duration'),
    };
  },
  async methods(kit) {
    const { clients, messages } = await import('../src/protocol.mjs');
    const client = clients.features(new URL(kit.url.replace(/^esdb/, 'http')).host);
    const answer = await new Promise((resolve) =>
      client.getSupportedMethods(new messages.Empty(), (error, m) => resolve(error ?? m.toObject())),
    );
    client.close();
    return answer.methodsList
      .filter((m) => OURS.test(m.serviceName))
      .map((m) => `${m.serviceName}/${m.methodName} ${m.featuresList.join(',')}`)
      .sort();
  },
  async gossip(kit) {
    const { clients, messages } = await import('../src/protocol.mjs');
    const client = clients.gossip(new URL(kit.url.replace(/^esdb/, 'http')).host);
    const answer = await new Promise((resolve) =>
      client.read(new messages.Empty(), (error, m) => resolve(error ?? m.toObject())),
    );
    client.close();
    return answer.membersList.map((m) => ({
      state: m.state,
      isAlive: m.isAlive,
      address: m.httpEndPoint.address,
      portIsOurs: String(m.httpEndPoint.port) === new URL(kit.url.replace(/^esdb/, 'http')).port,
      structuredId: !!m.instanceId.structured,
    }));
  },
  async 'discovery finds the node'(kit) {
    const client = (await import('@eventstore/db-client')).EventStoreDBClient.connectionString(
      kit.url.replace(/^esdb:/, 'esdb+discover:').replace('localhost', '127.0.0.1'),
    );
    const out = await kit.append(kit.stream('discovered'), kit.event('discovered'), {}, client);
    await client.dispose();
    return out;
  },
  async 'a deadline that has passed'(kit) {
    return kit.append(kit.stream('late'), kit.event('late-deadline'), { deadline: -1000 });
  },
  async requiresLeader(kit) {
    return kit.append(kit.stream('leader'), kit.event('leader'), { requiresLeader: true });
  },
  'mistake: the empty UUID': (kit) => mistake(kit, 'empty-id'),
  'mistake: an id that is no UUID': (kit) => mistake(kit, 'bad-id'),
  'mistake: an empty event type': (kit) => mistake(kit, 'empty-type'),
  'mistake: a bigint in the data': (kit) => mistake(kit, 'bigint'),
  'mistake: a bigint in the data, by Append': (kit) => mistake(kit, 'bigint-append'),
  'mistake: an empty stream name': (kit) => mistake(kit, 'empty-stream'),
};
