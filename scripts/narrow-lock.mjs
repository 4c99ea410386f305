// Makes package-lock.json specify which SQLite driver npm installs, and how: node scripts/narrow-lock.mjs
// Run it after each `npm install` that writes the lock; otherwise test/storage/sqlite/driver.test.ts fails.
import { readFileSync, writeFileSync } from 'node:fs';

const file = new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(file, 'utf8'));

/** Sets a field of one package, at its end. */
function set(entry, field, value) {
  const { [field]: _, ...others } = lock.packages[entry];
  lock.packages[entry] = { ...others, [field]: value };
}

// Version 13 ships its binaries and opts out of being compiled, which npm does not record in the lock. Without this it
// would run node-gyp, and remove the package if there is no compiler.
set('node_modules/better-sqlite3', 'gypfile', false);
// Version 12 also names later lines in its `engines`; npm leaves out an optional package whose `engines` do not match.
set('node_modules/better-sqlite3-node20', 'engines', { node: '20.x' });

writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
