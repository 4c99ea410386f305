import { Readable, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { main } from '../../src/cli/main.ts';

class Collected extends Writable {
  text = '';
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

async function classify(input: string | Iterable<string>, ...argv: string[]) {
  const stdout = new Collected();
  const stderr = new Collected();
  const stdin = Readable.from(typeof input === 'string' ? [input] : input, { objectMode: false });
  const code = await main(['classify', ...argv], { environment: {}, stdin, stdout, stderr, interactive: false });
  const lines = () => stdout.text.split('\n').filter((line) => line !== '');
  return {
    code,
    text: stdout.text,
    get lines() {
      return lines().map((line) => JSON.parse(line));
    },
  };
}

describe('docket classify', () => {
  it('prints a line of types for each line of text, in order', async () => {
    const { code, lines } = await classify(
      'COMPLAINT against Example Corporation\r\nORDER granting 12 MOTION to Compel\n\nJugement rendu par le juge\nMOTION for summary judgment',
    );
    expect(code).toBe(0);
    expect(lines.map(({ primary }) => primary)).toEqual(['complaint', 'order', 'other', 'judgment', 'motion']);
    for (const line of lines) {
      expect(Object.keys(line)).toEqual(['primary', 'all']);
      expect(line.all[0]).toBe(line.primary);
    }
  });

  it('accepts one text as arguments, and always prints JSON', async () => {
    expect((await classify('', 'NOTICE', 'OF', 'APPEAL')).lines).toMatchObject([{ primary: 'appeal' }]);
    expect((await classify('ANSWER to Complaint\n', '--json')).lines).toMatchObject([{ primary: 'answer' }]);
  });

  it('prints nothing for no input, and handles many lines with bounded memory', async () => {
    expect((await classify('')).text).toBe('');
    const many = Array.from({ length: 5_000 }, (_, index) => `ORDER no. ${index}\n`);
    expect((await classify(many)).lines).toHaveLength(5_000);
  });

  it('has help with examples', async () => {
    const { code, text } = await classify('', '--help');
    expect(code).toBe(0);
    expect(text).toContain('$ docket classify < entries.txt');
  });
});
