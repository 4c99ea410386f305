// Writes the bill of materials of the production packages, dist/sbom.cdx.json: npm run sbom. Needs python3 with venv.
// npm generates it from a lock without the development packages: `--omit=dev` would also omit packages that both need.
// The library of the CycloneDX project validates it. Fails if a production package is not listed.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pythonWith } from './python/environment.mjs';

const path = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));
const read = (name) => JSON.parse(readFileSync(path(name), 'utf8'));

const { devDependencies: _, scripts: __, ...manifest } = read('package.json');
const lock = read('package-lock.json');
const { devDependencies: ___, ...root } = lock.packages[''];
const runs = Object.entries(lock.packages).filter(([where, { dev }]) => where && !dev);
// Optional addons of rpc-websockets: nothing is compiled for them, and npm rejects their peer ranges in a lock.
const NOT_USED = /\/(?:bufferutil|utf-8-validate|node-gyp-build)$/;
const listed = runs.filter(([where]) => !NOT_USED.test(where));

function sbomOf(folder) {
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  const packages = { '': root, ...Object.fromEntries(listed) };
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ ...lock, packages }));
  const options = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only'];
  return execFileSync('npm', options, { cwd: folder, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
}

const folder = mkdtempSync(join(tmpdir(), 'docket-sbom-'));
let text;
try {
  text = sbomOf(folder);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
mkdirSync(path('dist'), { recursive: true });
const file = path('dist/sbom.cdx.json');
writeFileSync(file, text);

const named = new Set(JSON.parse(text).components.map(({ name, version }) => `${name}@${version}`));
const missing = listed
  .map(([where, { version }]) => `${where.slice(where.lastIndexOf('node_modules/') + 13)}@${version}`)
  .filter((one) => !named.has(one));
if (missing.length > 0) throw new Error(`the SBOM does not list ${missing.join(', ')}`);

const python = await pythonWith(path('scripts/python/cyclonedx.txt'));
const count = execFileSync(python, [path('scripts/python/validate_sbom.py'), file], { encoding: 'utf8' }).trim();
console.log(`dist/sbom.cdx.json: ${count} components, valid CycloneDX`);
