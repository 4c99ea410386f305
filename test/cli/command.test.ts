import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { type CliContext, CliError, EXIT, note, print, printable, printJson } from '../../src/cli/command.ts';
import { main } from '../../src/cli/main.ts';

function collecting() {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const context: CliContext = { environment: {}, stdin: new PassThrough(), stdout, stderr, interactive: false };
  return { context, written: () => `${stdout.read() ?? ''}${stderr.read() ?? ''}` };
}

const EVIL = '\u001b]0;owned\u0007 \u001b[31m \u009b2J \r\b\u0000 \u202eabc\u2066';
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

describe('a property name of every object', () => {
  it.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])(
    'is not accepted as a command or family: %s',
    async (word) => {
      for (const argv of [[word], ['audit', 'replay', word]]) {
        const { context, written } = collecting();
        expect(await main(argv, context)).toBe(EXIT.usage);
        expect(written()).toMatch(/Unknown command|Unknown family of streams/);
      }
    },
  );
});

describe('an unknown command', () => {
  it.each([
    ['bogus', /^Unknown command 'bogus'\.\nUse one of serve, .*\. See docket --help\.\n$/],
    ['sources bogus', /^Unknown command 'bogus'\.\nUse one of .*\bbackfill\b.*\. See docket sources --help\.\n$/],
    ['wallets bogus --reason x', /^Unknown command 'bogus'\.\nUse one of .*\bban\b.*\. See docket wallets --help\.\n$/],
  ])('names the known ones of its group: docket %s', async (line, expected) => {
    const { context, written } = collecting();
    expect(await main(line.split(' '), context)).toBe(EXIT.usage);
    expect(written()).toMatch(expected);
  });

  it('of a group is one JSON object with --json', async () => {
    const { context } = collecting();
    expect(await main(['sources', 'bogus', '--json'], context)).toBe(EXIT.usage);
    expect(JSON.parse(String((context.stdout as PassThrough).read()))).toEqual({
      error: { message: "Unknown command 'bogus'.", hint: expect.stringContaining('See docket sources --help.') },
    });
  });
});

describe('docket --help', () => {
  it('lists every command once, under headings of what operators and callers do', async () => {
    const { context, written } = collecting();
    expect(await main(['--help'], context)).toBe(EXIT.ok);
    const text = written();
    const headings = text.match(/^[A-Z][^:\n]*:$/gm) ?? [];
    expect(headings.slice(1, 6)).toEqual([
      'Run the service:',
      'Dockets:',
      'Money, callers and callbacks:',
      'Storage:',
      'Buy from a service:',
    ]);
    const { context: other, written: hint } = collecting();
    await main(['nonsense'], other);
    const names = /Use one of ([^.]*)\./.exec(hint())?.[1]?.split(', ') ?? [];
    expect(names).toContain('status');
    for (const name of names) expect(text.match(new RegExp(`^  ${name} `, 'gm')), name).toHaveLength(1);
  });
});

describe('the output of a command', () => {
  it.each([
    ['a result', (context: CliContext) => print(context, EVIL)],
    ['progress', (context: CliContext) => note(context, EVIL)],
    ['JSON', (context: CliContext) => printJson(context, { [EVIL]: EVIL })],
  ])('escapes characters that a terminal would obey: %s', (_what, write) => {
    const { context, written } = collecting();
    write(context);
    const text = written();
    expect(text).not.toMatch(OBEYED);
    expect(text).toContain('\\u001b[31m');
  });

  it('keeps lines and tabs, and keeps JSON valid', () => {
    expect(printable('a\n\tb \u00e9 \u{1f600}')).toBe('a\n\tb \u00e9 \u{1f600}');
    const { context, written } = collecting();
    printJson(context, EVIL);
    expect(JSON.parse(written())).toBe(EVIL);
  });

  it('escapes errors in the same way', async () => {
    const { context, written } = collecting();
    const code = await main(['import', `/nowhere/\u001b[31m`], context);
    expect(code).toBe(new CliError('', '').exitCode);
    const text = written();
    expect(text).toContain('\\u001b[31m');
    expect(text).not.toMatch(OBEYED);
  });
});
