// Imitations of the live sources on loopback, to see a whole service live on one machine: `node test/sources/serve.mjs`.
// Prints the variables with which a service sees them, then obeys commands from standard input, one a line.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';

const HELP = `Usage: node test/sources/serve.mjs [--json]

Starts imitations of CourtListener, of the courts' feeds and of the Supreme Court's files on free ports of 127.0.0.1, and prints
the variables with which a service sees them:

  $ node test/sources/serve.mjs
  $ export COURTLISTENER_URL=… COURTLISTENER_TOKEN=… RSS_URL=…     in another shell, as printed
  $ npx docket serve
  $ npx docket query --court-code ilnd --case-id 1:26-cv-02417

Commands on standard input:
  enter          the clerk enters a filing: the court's feed names it
  tell URL       CourtListener learns its text and sends its webhook to the service at URL (http://127.0.0.1:8402)
  seal           the document of that filing is sealed
  decide         the Supreme Court adds a line to its file of 25-447
  maintenance    CourtListener goes into maintenance, or comes back
  quit           ends the imitations

--json   one JSON object a line: the variables first, then the outcome of each command`;

const root = fileURLToPath(new URL('../../', import.meta.url));
const options = process.argv.slice(2);
if (options.includes('--help') || options.some((option) => option !== '--json')) {
  console.log(HELP);
  process.exit(options.includes('--help') ? 0 : 2);
}
const json = options.includes('--json');

const { openTown } = await import(pathToFileURL(compiled('test/sources/town.js')).href);
const town = await openTown();
const say = (text, value) => console.log(json ? JSON.stringify(value) : text);
const exports = Object.entries(town.variables).map(([name, value]) => `  export ${name}='${value}'`);
say(
  `The imitations run. In another shell:\n\n${exports.join('\n')}\n  npx docket serve\n\n` +
    '  npx docket query --court-code ilnd --case-id 1:26-cv-02417\n\nCommands here: enter, tell URL, seal, decide, maintenance, quit.',
  { variables: town.variables },
);

const COMMANDS = new Set(['enter', 'tell', 'seal', 'decide', 'maintenance']);
for await (const line of createInterface({ input: process.stdin })) {
  const [command = '', argument = 'http://127.0.0.1:8402'] = line.trim().split(/\s+/);
  if (command === 'quit') break;
  if (command === '') continue;
  try {
    if (!COMMANDS.has(command)) throw new Error(`there is no command ${command}: ${[...COMMANDS].join(', ')}, quit`);
    const done = await town[command](argument);
    say(done, { command, done });
  } catch (error) {
    say(`not done: ${error.message}`, { command, error: error.message });
  }
}
await town.close();

/** Compiles the imitations, which are TypeScript, and returns the path of a compiled file. */
function compiled(file) {
  const output = join(root, 'node_modules/.cache/imitations');
  mkdirSync(output, { recursive: true });
  const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');
  const { status, stdout } = spawnSync(
    process.execPath,
    [compiler, '-p', join(root, 'test/sources/tsconfig.json'), '--outDir', output],
    { encoding: 'utf8' },
  );
  if (status !== 0) {
    console.error(`The imitations could not be compiled:\n${stdout}`);
    process.exit(1);
  }
  cpSync(join(root, 'registry'), join(output, 'registry'), { recursive: true });
  cpSync(join(root, 'package.json'), join(output, 'package.json'));
  return join(output, file);
}
