/** Runs `docket …` in this process: returns its output, and the code that it would have ended with. */
import { Writable } from 'node:stream';
import { main } from '../../src/cli/main.ts';

export interface DocketRun {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export async function docketInProcess(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): Promise<DocketRun> {
  let [out, err] = ['', ''];
  const into = (add: (text: string) => void) =>
    new Writable({
      write(chunk, _encoding, done) {
        add(String(chunk));
        done();
      },
    });
  const stdout = into((text) => {
    out += text;
  });
  const stderr = into((text) => {
    err += text;
  });
  const code = await main(argv, { environment, stdin: process.stdin, stdout, stderr, interactive: false });
  return { code, out, err };
}
