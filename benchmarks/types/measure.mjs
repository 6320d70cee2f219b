/**
 * Counts the compiler's work for programs of `generate.mjs`, with the workspace's TypeScript against the packages' built
 * declarations, as a user's compiler sees them: `node benchmarks/types/measure.mjs [--tools 100]`. Build the packages first.
 *
 * Prints a line of JSON: instantiations by system. The number is the same at each run.
 */

import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { tools: { type: 'string', default: '100' } } });
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const settings = {
  extends: here('../../tsconfig.base.json'),
  files: ['program.ts'],
};

/** Inside the benchmarks' folder, so that the program finds what they depend on. */
function countInstantiations(system) {
  const folder = here(`../.cache/types/${system}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/tsconfig.json`, JSON.stringify(settings));
  execFileSync(process.execPath, [here('generate.mjs'), '--system', system, '--tools', values.tools, '--out', `${folder}/program.ts`]);
  const tsc = here('../../node_modules/typescript/bin/tsc');
  // One checker, because several would each count what they share.
  const out = execFileSync(process.execPath, [tsc, '-p', folder, '--extendedDiagnostics', '--singleThreaded'], { encoding: 'utf8' });
  return Number(/Instantiations:\s+(\d+)/.exec(out)?.[1]);
}

const systems = ['zod', 'mortise', 'official-v1', 'official-v2'];
process.stdout.write(`${JSON.stringify(Object.fromEntries(systems.map((system) => [system, countInstantiations(system)])))}\n`);
