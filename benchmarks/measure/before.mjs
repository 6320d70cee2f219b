// `--before <folder>`: the benchmarks of an older checkout, installed and built, whose programs run beside today's in the same rounds.
import { resolve } from 'node:path';

const at = process.argv.indexOf('--before');
const folder = at === -1 ? undefined : resolve(process.argv[at + 1]);

/** Adds to systems, a program and its words by name, each of ours as it was: "before" for "ours". */
export function withBefore(systems) {
  if (folder === undefined) return systems;
  const before = Object.entries(systems)
    .filter(([name]) => name.startsWith('ours'))
    .map(([name, [file, ...words]]) => [name.replace('ours', 'before'), [resolve(folder, file.replace('../', '')), ...words]]);
  return { ...systems, ...Object.fromEntries(before) };
}
