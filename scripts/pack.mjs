/**
 * `npm run pack`: builds and packs every package as it would be published, into the folder packed/ or the one named after `--`,
 * prints what lies there, and says how a program of one's own installs it.
 */

import { relative, resolve } from 'node:path';
import { statSync } from 'node:fs';
import { packInto } from './pack-packages.mjs';
import { root } from './run-command.mjs';
import { setUp } from './set-up.mjs';

const [folder = resolve(root, 'packed'), ...others] = process.argv.slice(2);
if (folder.startsWith('-') || others.length > 0) {
  console.error('Usage: npm run pack -- [folder]     (packed/ where none is named)');
  process.exit(2);
}

await setUp();

const target = resolve(folder);
const packages = await packInto(target);
const width = Math.max(...packages.map(({ tarball }) => relative(target, tarball).length));
console.log(`\n${target}`);
for (const { tarball } of packages) {
  console.log(`  ${relative(target, tarball).padEnd(width)} ${(statSync(tarball).size / 1024).toFixed(1).padStart(7)} KiB`);
}
console.log(`
In a program of yours, for a server over stdio (as long as no registry has the packages, name what they depend on too):

  npm install ${target}/mortise-{server,transport-stdio,protocol,jsonrpc-core}-*.tgz zod`);
