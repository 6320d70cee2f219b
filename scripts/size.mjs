/**
 * `npm run size`: what the smallest programs install, and what a bundler makes of them. `-- --files` lists what each source
 * file adds to each bundle made from the sources, the largest first, and installs nothing. `-- --groups` says what each bundle is made
 * of, in one file, from below, and who asks for it.
 */

import { setUp } from './set-up.mjs';

const listsFiles = process.argv.includes('--files');
const listsGroups = process.argv.includes('--groups');
await setUp({ build: !listsFiles });
const { measureBundles, programs } = await import('./measure-bundles.mjs');
const { installPacked } = await import('./measure-install.mjs');

if (listsGroups) await printGroups();

const kibibytes = (bytes) => `${(bytes / 1024).toFixed(1)} KiB`.padStart(11);

const installs = [
  { name: 'stdio server', names: ['@mortise/server', '@mortise/transport-stdio'] },
  { name: 'stdio server with zod', names: ['@mortise/server', '@mortise/transport-stdio', 'zod@^4'] },
  { name: 'stdio client', names: ['@mortise/client', '@mortise/transport-stdio'] },
];

if (!listsFiles && !listsGroups) console.log(`\n${'installed'.padEnd(42)} packages       bytes        ours`);
for (const { name, names } of listsFiles || listsGroups ? [] : installs) {
  const { packages, bytes, ours, remove } = await installPacked(names);
  remove();
  console.log(`${name.padEnd(42)} ${String(packages).padStart(8)} ${kibibytes(bytes)} ${kibibytes(ours)}`);
}

console.log(`\n${'bundled, minified'.padEnd(42)}    plain       gzip      budget         aim`);
let over = 0;
for (const { name, minifiedBytes, bytes, budgetBytes, aimBytes, files } of await measureBundles({ fromSources: listsFiles })) {
  if (bytes > budgetBytes) over += 1;
  console.log(
    `${name.padEnd(38)} ${kibibytes(minifiedBytes)} ${kibibytes(bytes)} ${kibibytes(budgetBytes)} ${aimBytes === undefined ? '' : kibibytes(aimBytes)}${bytes > budgetBytes ? '  over' : ''}`,
  );
  if (!listsFiles) continue;
  for (const [path, added] of [...files].sort(([, one], [, other]) => other - one)) console.log(`  ${String(added).padStart(7)}  ${path}`);
}
process.exitCode = over === 0 ? 0 : 1;

async function printGroups() {
  const { measureGroups } = await import('./measure-groups.mjs');
  for (const program of programs.filter(({ aimBytes }) => aimBytes !== undefined)) {
    console.log(`\n${program.name}, in one file`.padEnd(70), '   minified       gzip      total');
    for (const { name, need, demandedBy, minifiedBytes, addedBytes, totalBytes } of await measureGroups(program)) {
      const figures = [minifiedBytes, addedBytes, totalBytes].map((bytes) => (bytes / 1024).toFixed(1).padStart(10));
      console.log(`${need.padEnd(11)} ${name.padEnd(64).slice(0, 64)}${figures.join(' ')}   ${demandedBy}`);
    }
  }
}
