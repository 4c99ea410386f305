/** Given a trusted third-party proxy: limits by address count each of its callers separately. */
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAddressLimit } from '../../src/http/address-limit.ts';
import { createClientAddresses } from '../../src/http/client-address.ts';
import { steadyClock } from '../../src/runtime/steady-clock.ts';
import { startFreeService } from '../abuse/free-service.ts';
import { isInstalled, type ProxyName, type RunningProxy, startProxy } from './proxies.ts';

const PER_MINUTE = 5;
const NAMES: readonly ProxyName[] = ['nginx', 'haproxy', 'varnish'];
/** CI has all of them: `.ci/run` installs them. */
const missing = (name: ProxyName) => !isInstalled(name) && process.env.CI === undefined;

describe.each(NAMES)('behind %s', (name) => {
  describe.skipIf(missing(name))('that is trusted', () => {
    let service: Awaited<ReturnType<typeof startFreeService>>;
    let proxy: RunningProxy;
    beforeAll(async () => {
      service = await startFreeService({
        addressLimit: createAddressLimit(PER_MINUTE, steadyClock),
        // The callers have other loopback addresses.
        clientAddresses: createClientAddresses({ trustedProxies: ['127.0.0.1/32'] }),
      });
      proxy = await startProxy(name, [service.port], { forwards: true });
    });
    afterAll(async () => {
      await proxy?.close();
      await service.close();
    });

    const payBadly = (localAddress: string, headers: Record<string, string> = {}) =>
      new Promise<number>((done, failed) => {
        const sent = request({
          port: proxy.port,
          host: '127.0.0.1',
          localAddress,
          path: '/v2/case?court_code=cand&case_id=3:24-cv-01234',
          headers: { 'payment-signature': 'not base64', ...headers },
        });
        sent.on('response', (response) => response.resume().on('end', () => done(response.statusCode ?? 0)));
        sent.on('error', failed).end();
      });

    it('a bad caller is limited, regardless of what it writes into the header, and no other', async () => {
      const statuses: number[] = [];
      for (let i = 0; i <= PER_MINUTE; i++) {
        statuses.push(await payBadly('127.0.0.2', { 'x-forwarded-for': `198.51.100.${i}` }));
      }
      expect(statuses).toEqual([...Array(PER_MINUTE).fill(400), 429]);
      expect(await payBadly('127.0.0.3')).toBe(400);
      expect(await payBadly('127.0.0.3', { 'x-forwarded-for': '127.0.0.2' })).toBe(400);
    });
  });
});
