/** `npm run size`: what the smallest programs install from a registry, and what a bundler makes of them. */

import { openRegistry } from './local-registry.mjs';
import { measureBundles } from './measure-bundles.mjs';

const kibibytes = (bytes) => `${(bytes / 1024).toFixed(1)} KiB`;

const registry = await openRegistry();
const server = ['@mortise/server', '@mortise/transport-stdio'];
const installs = {};
for (const asked of [server, [...server, 'zod'], ['@mortise/client', '@mortise/transport-stdio']]) {
  const { names, bytes, sourceBytes } = await registry.install(asked);
  installs[asked.join(' ')] = { packages: names.length, all: kibibytes(bytes), 'without src and maps': kibibytes(bytes - sourceBytes) };
}
await registry.close();

const bundles = {};
for (const { name, minifiedBytes, bytes, budgetBytes } of await measureBundles())
  bundles[name] = { minified: kibibytes(minifiedBytes), gzip: kibibytes(bytes), budget: kibibytes(budgetBytes), over: bytes > budgetBytes };
console.table(installs);
console.table(bundles);
