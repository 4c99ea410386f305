import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { CliContext } from '../../src/cli/command.ts';
import { main } from '../../src/cli/main.ts';

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

class Collected extends Writable {
  text = '';
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

async function docket(...argv: string[]): Promise<Ran> {
  const stdout = new Collected();
  const stderr = new Collected();
  const context: CliContext = { environment: {}, stdin: process.stdin, stdout, stderr, interactive: false };
  const code = await main(argv, context);
  return { code, stdout: stdout.text, stderr: stderr.text };
}

const courts = (...argv: string[]): Promise<Ran> => docket('courts', ...argv);

describe('docket courts search', () => {
  it('finds courts by words of their names, in any order and letter case', async () => {
    const { code, stdout } = await courts('search', 'california', 'NORTHERN', 'district');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^cand +full +United States District Court for the Northern District of California$/m);
  });

  it('finds a court by its code, its alias, a part of its code, and a misspelt code', async () => {
    expect((await courts('search', 'cofc')).stdout).toMatch(/^uscfc /);
    expect((await courts('search', 'tulsa')).stdout).toMatch(/^ok_tulsa /m);
    expect((await courts('search', 'candd')).stdout).toMatch(/^cand /);
  });

  it('prints JSON', async () => {
    const found = JSON.parse((await courts('search', 'tulsa', '--json')).stdout);
    expect(found).toContainEqual(expect.objectContaining({ court_code: 'ok_tulsa', coverage: 'full', region: 'OK' }));
  });

  it('says if no court matches', async () => {
    const ran = await courts('search', 'xyzzyxyzzyxyzzy');
    expect(ran).toMatchObject({ code: 1, stdout: '' });
    expect(ran.stderr).toContain('docket courts list');
    expect(await courts('search', 'xyzzyxyzzyxyzzy', '--json')).toMatchObject({ code: 1, stdout: '[]\n' });
  });
});

describe('docket courts show', () => {
  it('shows what is known about a court', async () => {
    const { code, stdout } = await courts('show', 'SCOTUS');
    expect(code).toBe(0);
    expect(stdout).toContain('Supreme Court of the United States');
    expect(stdout).toContain('23-719');
    expect(stdout).toContain('America/New_York');
  });

  it('says that a planned court cannot be queried', async () => {
    expect((await courts('show', 'qc_cs')).stdout).toContain('not open to queries yet');
    expect(JSON.parse((await courts('show', 'qc_cs', '--json')).stdout)).toMatchObject({ status: 'planned' });
  });

  it('suggests the nearest codes for an unknown one', async () => {
    const ran = await courts('show', 'candd');
    expect(ran.code).toBe(2);
    expect(ran.stderr).toMatch(/Did you mean cand\b/);
  });
});

describe('docket courts explain', () => {
  it('explains how a number is parsed', async () => {
    const { code, stdout } = await courts('explain', 'nysd', '1:17-CR-350-KBF-9');
    expect(code).toBe(0);
    expect(stdout).toMatch(/canonical +1:17-cr-00350/);
    expect(stdout).toMatch(/set aside +KBF-9/);
    expect(stdout).toMatch(/office +1/);
  });

  it('accepts an unquoted number with spaces', async () => {
    const { stdout } = await courts('explain', 'nysd', '17', 'Civ.', '8956', '(JPO)', '--json');
    expect(JSON.parse(stdout)).toEqual({
      court_code: 'nysd',
      typed: '17 Civ. 8956 (JPO)',
      canonical: '17-cv-08956',
      core: '17-cv-08956',
      complete: false,
      office: null,
      case_type: 'cv',
      set_aside: '(JPO)',
    });
  });

  it('shows the format of the court’s numbers for an invalid one, and a suggestion', async () => {
    const ran = await courts('explain', 'cand', '3:24-cv-O1234');
    expect(ran.code).toBe(1);
    expect(ran.stderr).toContain('Did you mean 3:24-cv-01234?');
    expect(ran.stderr).toContain('1:24-cv-01234');
    const json = await courts('explain', 'cand', '3:24-cv-O1234', '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({ canonical: null, suggestion: '3:24-cv-01234' });
  });

  it('says that a court publishes no format', async () => {
    expect((await courts('explain', 'tn_first', '#!')).stderr).toContain('publishes no format');
  });
});

describe('docket courts list', () => {
  const listed = async (...argv: string[]): Promise<{ court_code: string }[]> =>
    JSON.parse((await courts('list', '--json', ...argv)).stdout);

  it('lists all courts, or those of a country, region, level and coverage', async () => {
    expect(await listed()).toHaveLength(2150);
    expect(await listed('--country', 'ca')).toHaveLength(51);
    expect((await listed('--region', 'ok')).filter((court) => court.court_code.startsWith('ok_'))).toHaveLength(80);
    expect(await listed('--coverage', 'planned')).toHaveLength(39);
    expect((await listed('--level', 'supreme', '--country', 'CA')).map((court) => court.court_code)).toEqual(['scc']);
  });

  it('ends with the number of courts', async () => {
    expect((await courts('list', '--level', 'supreme', '--country', 'CA')).stdout).toMatch(/^scc .*\n1 court\n$/);
  });

  it.each([
    ['--country', 'FR'],
    ['--region', 'Texas'],
    ['--level', 'highest'],
    ['--coverage', 'all'],
  ])('rejects %s %s', async (option, value) => {
    const ran = await courts('list', option, value);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(ran.stderr).toContain(value);
  });
});

describe('help', () => {
  it.each([['courts'], ['courts', 'search'], ['courts', 'show'], ['courts', 'explain'], ['courts', 'list']])(
    'of %s %s shows examples',
    async (...argv) => {
      const ran = await docket(...argv.filter((word) => word !== undefined), '--help');
      expect(ran.code).toBe(0);
      expect(ran.stdout).toContain('Examples:\n  $ docket courts');
    },
  );
});
