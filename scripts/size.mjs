/** `npm run size`: what the smallest programs install from a registry, and what a bundler makes of them. */

import { openRegistry } from './local-registry.mjs';
import { measureBundles } from './measure-bundles.mjs';

const kibibytes = (bytes) => `${(bytes / 1024).toFixed(1)} KiB`.padStart(12);

const registry = await openRegistry();
console.log(`\n${'installed'.padEnd(40)} packages         all  without src and maps`);
for (const names of [
  ['@mortise/server', '@mortise/transport-stdio'],
  ['@mortise/server', '@mortise/transport-stdio', 'zod'],
  ['@mortise/client', '@mortise/transport-stdio'],
]) {
  const { names: installed, bytes, sourceBytes } = await registry.install(names);
  const asked = names.map((name) => name.replace('@mortise/', '')).join(', ');
  console.log(`${asked.padEnd(40)} ${String(installed.length).padStart(8)}${kibibytes(bytes)}${kibibytes(bytes - sourceBytes)}`);
}
await registry.close();

console.log(`\n${'bundled, minified'.padEnd(40)}    plain        gzip      budget`);
for (const { name, minifiedBytes, bytes, budgetBytes } of await measureBundles())
  console.log(`${name.padEnd(40)}${[minifiedBytes, bytes, budgetBytes].map(kibibytes).join('')}${bytes > budgetBytes ? '  over' : ''}`);
