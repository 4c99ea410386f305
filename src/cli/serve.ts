import type { Command } from 'commander';
import type { Logger } from 'pino';
import { readConfig } from '../config.ts';
import { startService } from '../main.ts';
import { makeLogger } from '../runtime/logger.ts';
import { type AddCommand, note, printJson } from './command.ts';
import { untilStopped } from './until-stopped.ts';

/** The longest that a stop may take. The next start resumes what has not ended by then. */
const STOP_WITHIN_MS = 14_500;
/** How long open handles may keep the process alive after the stop. */
const LINGER_MS = 200;

export const addServeCommand: AddCommand = (program: Command, context) => {
  program
    .command('serve')
    .description('Run the service until SIGTERM or Ctrl-C.')
    .option('--json', 'one JSON object with the addresses once it is ready')
    .addHelpText(
      'after',
      `
Settings come from environment variables (docket config --help lists them).

Examples:
  $ docket serve
  $ PORT=9000 ADMIN_PORT=9001 DATA_DIR=/var/lib/docket docket serve`,
    )
    .action(async (options: { json?: boolean }) => {
      const stopped = untilStopped();
      const config = readConfig(context.environment);
      const logger = makeLogger(config.logLevel);
      // Armed at the signal, even during the start, which may be waiting for an endpoint that never answers.
      void stopped.then(() => setTimeout(() => endAnyway(logger), STOP_WITHIN_MS).unref());
      // Without a terminal the log is read by programs, which expect JSON on every line.
      const say = (text: string) => (context.interactive ? note(context, text) : logger.info(text.trim()));
      const service = await startService(config, { logger });
      const { url, adminUrl, rpcUrl } = service;
      if (options.json) printJson(context, { url, adminUrl, rpcUrl });
      for (const line of service.banner) say(line);
      const signal = await stopped;
      say(`${signal}: finishing running requests`);
      await service.stop();
      // Connections to an engine that never answers would keep the process alive.
      setTimeout(() => process.exit(), LINGER_MS).unref();
    });
};

function endAnyway(logger: Logger): never {
  logger.warn('stopped before it was ready; the next start resumes unfinished work');
  logger.flush();
  process.exit(1);
}
