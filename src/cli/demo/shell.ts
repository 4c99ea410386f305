/** What the demos share: commands run in this process, the environment of their own service, and what they print. */
import { Writable } from 'node:stream';
import { freePorts } from '../../runtime/free-ports.ts';
import { type CliContext, CliError, EXIT, type RunDocket } from '../command.ts';

export interface Filing {
  readonly entry_number: number | null;
  readonly filed_at: string | null;
  readonly available_at: string;
  readonly filing_type: string;
  readonly description: string;
  readonly sealed: boolean;
  readonly document_identifier: string | null;
}

/** What `docket query --json` prints. */
export interface Bought {
  readonly wallet: string;
  readonly transaction: string;
  readonly charged_usd: number;
  readonly queried_at: string;
  readonly result_url: string;
  readonly answer: {
    readonly case: { readonly case_name: string; readonly court_name: string; readonly filing_count: number };
    readonly delta?: {
      readonly change_count: number;
      readonly new_filings: readonly Filing[];
      readonly updated_filings: readonly Filing[];
    };
  };
}

/** Runs `docket` commands in this process and returns their output. */
export class Shell {
  constructor(
    private readonly context: CliContext,
    private readonly environment: NodeJS.ProcessEnv,
    private readonly say: (line: string) => void,
    private readonly docket: RunDocket,
  ) {}

  /** @throws CliError with the command's own message if it fails */
  async run(...args: readonly string[]): Promise<string> {
    this.say(`\n$ docket ${args.map((arg) => (/[\s*]/.test(arg) ? `'${arg}'` : arg)).join(' ')}`);
    const [out, err] = [collector(), collector()];
    const exitCode = await this.docket([...args, '--json'], {
      ...this.context,
      environment: this.environment,
      stdout: out.stream,
      stderr: err.stream,
      interactive: false,
    });
    if (exitCode !== EXIT.ok) throw new CliError(`docket ${args[0]} failed:`, err.text() || out.text(), EXIT.found);
    return out.text();
  }

  async json<Result>(...args: readonly string[]): Promise<Result> {
    return JSON.parse(await this.run(...args)) as Result;
  }
}

function collector() {
  const parts: Buffer[] = [];
  const stream = new Writable({
    write(part: Buffer, _encoding, done) {
      parts.push(Buffer.from(part));
      done();
    },
  });
  return { stream, text: () => Buffer.concat(parts).toString() };
}

export const filingLine = (mark: string, { entry_number, filed_at, filing_type, description }: Filing): string =>
  `  ${mark.padEnd(8)}${String(entry_number ?? '-').padStart(3)}  ${(filed_at ?? '-').slice(0, 10)}  ${filing_type.padEnd(12)} ${description.slice(0, 90)}`;

export const NO_ENGINES: NodeJS.ProcessEnv = { EVENTSTORE_URL: '', MONGODB_URL: '' };

/** The environment of a service on free ports of this machine, with a local chain of its own. */
export async function serviceEnvironment(
  context: CliContext,
  folder: string,
  more: NodeJS.ProcessEnv,
): Promise<NodeJS.ProcessEnv> {
  const [port, adminPort, rpcPort] = await freePorts(3);
  return {
    ...context.environment,
    HOST: '127.0.0.1',
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
    PUBLIC_URL: '',
    DATA_DIR: folder,
    SOLANA_NETWORK: 'local',
    SOLANA_RPC_URL: '',
    SOLANA_LOCAL_PORT: String(rpcPort),
    FEE_PAYER_KEY: '',
    PAY_TO: '',
    LOG_LEVEL: context.environment.LOG_LEVEL ?? 'warn',
    ...more,
  };
}
