#!/usr/bin/env node
// Says what is wrong with the installation before the program loads. Has no `import` statement and no syntax that Node 10
// does not know: an old Node must be able to read this far. What fails to load says little; what Node 20 or 22.13 makes
// of the driver for newer versions is a crash.

/** The lines of Node that are tested, each with the first minor version that is. `engines` in package.json says the same. */
const TESTED = { 20: 19, 22: 14, 24: 0, 26: 0 };
const NEEDED = 'Node 26, 24, 22.14 or later in line 22, or 20.19 or later in line 20';
/** The exit code of a wrong call or configuration. */
const REFUSED = 2;

const node = process.versions.node;
const [major, minor] = node.split('.').map(Number);

function refuse(problem) {
  process.stderr.write(`docket: ${problem}\n`);
  process.exitCode = REFUSED;
}

function explain(error) {
  // Of the program itself, or of a package that is imported: a require has another code.
  if (error.code === 'ERR_MODULE_NOT_FOUND') return 'the program is not built. Run: npm run build';
  const driver = Number(process.versions.napi) >= 10 ? 'better-sqlite3' : 'better-sqlite3-node20';
  if (error.code === 'MODULE_NOT_FOUND') {
    // npm leaves an optional package out without an error where it does not compile.
    const needs =
      driver === 'better-sqlite3' ? '' : ' It is compiled during the installation by a C++ compiler and python3.';
    return `${driver}, the SQLite driver for Node ${node}, is not installed.${needs} Run with this version of Node: npm ci`;
  }
  const build =
    driver === 'better-sqlite3' ? 'npm explore better-sqlite3 -- npm run build-release' : `npm rebuild ${driver}`;
  const reason = String(error.message).split('\n').slice(0, 3).join(' ');
  return `the binary of ${driver} is missing or does not fit Node ${node} on ${process.platform} ${process.arch}. Run: ${build} (${reason})`;
}

async function start() {
  try {
    const { Database } = await import('../dist/storage/sqlite/driver.js');
    // The addon is loaded by the first database.
    new Database(':memory:').close();
  } catch (error) {
    refuse(explain(error));
    return;
  }
  const { main } = await import('../dist/cli/main.js');
  process.exitCode = await main(process.argv.slice(2));
}

if (TESTED[major] !== undefined && minor >= TESTED[major]) {
  start();
} else if (Number(process.versions.napi) >= 10) {
  process.stderr.write(`docket: not tested on Node ${node}. Tested: ${NEEDED}\n`);
  start();
} else {
  refuse(`Node ${node} is not supported. Install ${NEEDED}`);
}
