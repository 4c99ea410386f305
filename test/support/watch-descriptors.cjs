/**
 * Loaded into a process, and each of its threads, before everything else (`node --require`). Writes to the file that
 * WATCH_DESCRIPTORS names: one line for each call of `node:fs` that opens a descriptor of a database file, and one line
 * for each watched process, so that a test knows that it was watched.
 */
const fs = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');

const DATABASE = /\.sqlite(?:-wal|-shm|-journal)?$/;
/** Calls whose first argument, or first two, name a file that they open. `truncate` opens it as well. */
const OPENING = ['open', 'openAsBlob', 'readFile', 'writeFile', 'appendFile', 'truncate', 'copyFile', 'cp'];
const STREAMS = ['createReadStream', 'createWriteStream', 'ReadStream', 'WriteStream'];

const report = fs.openSync(process.env.WATCH_DESCRIPTORS, 'a');
const { writeSync } = fs;
const tell = (line) => writeSync(report, `${line}\n`);

const named = (path) => {
  if (path instanceof URL || typeof path === 'string' || Buffer.isBuffer(path)) return String(path);
  return '';
};

function watch(object, name) {
  const original = object[name];
  if (typeof original !== 'function') return;
  const watched = function (...args) {
    for (const path of args.slice(0, 2).map(named)) {
      if (DATABASE.test(path)) tell(`${name} ${path} ${new Error('here').stack.split('\n').slice(2, 5).join(' ')}`);
    }
    return new.target ? Reflect.construct(original, args, original) : Reflect.apply(original, this, args);
  };
  object[name] = Object.assign(watched, original);
  watched.prototype = original.prototype;
}

for (const name of OPENING) {
  watch(fs, name);
  watch(fs, `${name}Sync`);
  watch(fs.promises, name);
}
for (const name of STREAMS) watch(fs, name);
syncBuiltinESMExports();
tell(`watching ${process.argv.slice(2).join(' ') || 'a thread'}`);
