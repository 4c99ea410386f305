/** Given a logger, when a line with an alarm is written by it or a child of it, then the alarm is reported, and the line too. */
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { type RaisedAlarm, reportingAlarms } from '../../src/runtime/alarms.ts';

const NOW = 1_780_000_000_000_000;

function logging(level: string) {
  const lines: Record<string, unknown>[] = [];
  const alarms: RaisedAlarm[] = [];
  const plain = pino({ level }, { write: (line: string) => lines.push(JSON.parse(line)) });
  const logger = reportingAlarms(plain, (alarm) => alarms.push(alarm), { now: () => NOW });
  return { logger, lines, alarms };
}

describe('a line with an alarm', () => {
  it('is written as before and reported with its level, its message and the details that operators need', () => {
    const { logger, lines, alarms } = logging('info');
    logger.error(
      { alarm: 'disk_down', part: 'disk', code: 'storage_full', reason: 'full', hint: 'Free space.' },
      'down',
    );
    expect(lines).toMatchObject([{ level: 50, alarm: 'disk_down', code: 'storage_full', msg: 'down' }]);
    expect(alarms).toEqual([
      {
        name: 'disk_down',
        level: 'error',
        at: NOW,
        message: 'down',
        details: { part: 'disk', code: 'storage_full', reason: 'full', hint: 'Free space.' },
      },
    ]);
  });

  it('is reported by children and by children of these', () => {
    const { logger, lines, alarms } = logging('info');
    logger.child({ part: 'x' }).child({ sub: 'y' }).warn({ alarm: 'untrusted_proxy', peer: '192.0.2.1' }, 'a proxy');
    expect(lines).toMatchObject([{ part: 'x', sub: 'y', alarm: 'untrusted_proxy' }]);
    expect(alarms).toMatchObject([{ name: 'untrusted_proxy', level: 'warn', details: { peer: '192.0.2.1' } }]);
  });

  it('is reported even if the level of the log hides the line', () => {
    const { logger, lines, alarms } = logging('fatal');
    logger.warn({ alarm: 'low' }, 'low');
    expect([lines.length, alarms.length]).toEqual([0, 1]);
  });

  it('keeps neither fields that may hold a secret nor endless text', () => {
    const { logger, alarms } = logging('info');
    const url = 'https://receiver.example/hook?token=secret';
    logger.error({ alarm: 'a', url, wallet: 'W', requestId: 'R', headers: { x: 1 }, reason: 'x'.repeat(9_999) }, 'm');
    expect(Object.keys(alarms[0]?.details ?? {})).toEqual(['reason']);
    expect(alarms[0]?.details.reason).toHaveLength(500);
  });

  it('reads the reason from its error', () => {
    const { logger, alarms } = logging('info');
    logger.fatal({ alarm: 'local_chain_failed', err: new Error('no disk') }, 'the chain failed');
    expect(alarms[0]).toMatchObject({ level: 'fatal', details: { reason: 'no disk' } });
  });
});

describe('a line without an alarm', () => {
  it('is only written, in every form that pino accepts', () => {
    const { logger, lines, alarms } = logging('info');
    logger.info('text');
    logger.info({ alarm: 7 }, 'a number is no name');
    logger.error(new Error('failed'));
    logger.warn({ a: 1 }, 'number %d', 5);
    expect(alarms).toEqual([]);
    expect(lines.map(({ msg }) => msg)).toEqual(['text', 'a number is no name', 'failed', 'number 5']);
  });
});
