/**
 * Given the imitations of sources, when `docket demo --live` runs, then a case is found by its query, followed by feed and
 * webhook, and its document is sealed, with real processes and the real Token program.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';

it('docket demo --live shows a case that was not imported', async () => {
  const child = spawn(process.execPath, ['bin/docket.js', 'demo', '--live', '--json'], {
    env: { ...process.env, LOG_LEVEL: 'silent' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  expect([code, err]).toEqual([0, '']);
  expect(JSON.parse(out)).toMatchObject({
    known_before: false,
    source: 'courtlistener',
    filing_count: 3,
    new_filing: { entry_number: 4, description: 'Motion to Dismiss', sealed: false },
    updated_filing: {
      entry_number: 4,
      description: expect.stringContaining('failure to state a claim'),
      sealed: false,
    },
    sealed_filing: {
      entry_number: 4,
      description: expect.stringContaining('failure to state a claim'),
      sealed: true,
      document_identifier: null,
    },
    wallet_usdc_left: '1.04',
  });
}, 120_000);
