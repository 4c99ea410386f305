import { describe, expect, it } from 'vitest';
import { maskUrl, shownConfig } from '../src/cli/config.ts';
import { ConfigurationError, readConfig } from '../src/config.ts';

const faultsOf = (environment: NodeJS.ProcessEnv): Record<string, string> => {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigurationError) {
      return Object.fromEntries(error.faults.map(({ variable, problem }) => [variable, problem]));
    }
    throw error;
  }
  throw new Error('the configuration was taken');
};

describe('the configuration', () => {
  it('needs nothing: everything runs on the embedded defaults', () => {
    expect(readConfig({})).toMatchObject({
      production: false,
      host: '127.0.0.1',
      port: 8402,
      adminPort: 8403,
      dataDirectory: './data',
      solana: { network: 'local', rpcUrls: [], localPort: 8899, localSlotMs: 400 },
    });
  });

  it('takes an empty variable as not set', () => {
    expect(readConfig({ PORT: '', PAY_TO: '', SOLANA_RPC_URL: '' })).toEqual(readConfig({}));
  });

  it('names every fault at once, with what was received', () => {
    const faults = faultsOf({ PORT: '99999', LOG_LEVEL: 'loud', SOLANA_RPC_URL: 'ftp://x', PAY_TO: '0' });
    expect(Object.keys(faults).sort()).toEqual(['LOG_LEVEL', 'PAY_TO', 'PORT', 'SOLANA_RPC_URL']);
    expect(faults.PORT).toContain('99999');
  });

  it('wants keys and endpoints of its own on a chain that is not local', () => {
    expect(Object.keys(faultsOf({ SOLANA_NETWORK: 'devnet' })).sort()).toEqual([
      'FEE_PAYER_KEY',
      'PAY_TO',
      'SOLANA_RPC_URL',
    ]);
  });

  it('refuses production on the local chain, and on engines that one machine holds', () => {
    const faults = faultsOf({ NODE_ENV: 'production', SOLANA_NETWORK: 'local' });
    expect(faults.SOLANA_NETWORK).toContain('test money');
    expect(faults.NODE_ENV).toContain('EventStoreDB');
  });

  it('refuses engines that this release does not have, rather than ignoring them', () => {
    expect(faultsOf({ EVENTSTORE_URL: 'esdb://somewhere' }).EVENTSTORE_URL).toContain('later');
  });

  it('never shows a secret', () => {
    const secret = JSON.stringify(Array.from({ length: 64 }, (_, i) => i));
    const shown = JSON.stringify(
      shownConfig(readConfig({ FEE_PAYER_KEY: secret, SOLANA_RPC_URL: 'https://user:pass@rpc.example/v1/key?k=1' })),
    );
    expect(shown).not.toContain('1,2,3');
    expect(shown).not.toMatch(/pass|key\?|k=1/);
    expect(maskUrl('http://127.0.0.1:8899')).toBe('http://127.0.0.1:8899');
    expect(faultsOf({ FEE_PAYER_KEY: secret, PORT: 'x' })).not.toHaveProperty('FEE_PAYER_KEY');
  });
});
