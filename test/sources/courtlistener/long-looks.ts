/** Dockets that one look cannot finish, and looks that go on until they are complete. */
import { expect } from 'vitest';
import type { AskingWorld } from './asking.ts';

export const NUMBER = '1:26-cv-02417';
export const HOUR = 3_600_000;

export function docketOf({ site }: AskingWorld, entries: number, number = NUMBER, court = 'ilnd'): number {
  const docket = site.addDocket({ court, number });
  for (let entry = 1; entry <= entries; entry++) {
    site.addEntry(docket, {
      number: entry,
      description: `NOTICE number ${entry} by Harrowgate Tile Works, LLC`,
      dateFiled: `20${String(10 + (entry % 15)).padStart(2, '0')}-05-0${1 + (entry % 9)}`,
      sequence: entry * 2,
      documents: [{ pacerDocId: String(67_030_000_000 + entry) }],
    });
  }
  site.addParty(docket, { name: 'Harrowgate Tile Works, LLC', attorneys: [{ name: 'Isaura Quillfeather' }] });
  return docket;
}

/** Goes on after each wait, on a new node each time, until the look is complete. */
export async function finish(
  world: AskingWorld,
  stream: string | null,
  onAsk: (stream: string | null) => Promise<void> = async () => {},
) {
  for (let asks = 1, at = stream; asks < 200; asks++) {
    const look = await world.ask('ilnd', NUMBER, { stream: at });
    if ('stream' in look) at = look.stream;
    await onAsk(at);
    if (look.look === 'complete') return { stream: look.stream, asks };
    if (look.look !== 'partial' && look.look !== 'failed') throw new Error(look.look);
    const { because } = look;
    expect(because).toMatchObject({ fault: 'budget', retryAt: expect.any(Number) });
    world.clock.advance(((because.retryAt ?? 0) - world.clock.now()) / 1_000 + 1_000);
  }
  throw new Error('never complete');
}
