/**
 * The gates of `npm test`: every check that is not a test. A gate is a name, a sentence, and `run`, which says whether it
 * holds and what to print where it does not. Dependencies are installed and packages built before any of them runs.
 */

import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { findStaleReports } from './api-report.mjs';
import { checkTypesOfPackages, followLinksOfPackages, lintPackages } from './check-packages.mjs';
import { measureBundles } from './measure-bundles.mjs';
import { root, runNode } from './run-command.mjs';
import { workspaceFolders } from './set-up.mjs';

/**
 * @typedef {{ ok: boolean, output: string, note?: string }} Verdict `note` is one short line that is printed in any case.
 * @typedef {{ name: string, what: string, needsBuild?: true, run: () => Promise<Verdict> }} Gate
 */

/** @type {readonly Gate[]} */
export const gates = [
  { name: 'types', what: 'tsc over every package, app and script, with the type tests', run: checkTypes },
  { name: 'lint', what: 'oxlint and the rules in scripts/lint', run: lint },
  { name: 'format', what: 'prettier; `npm run format` repairs', run: checkFormat },
  { name: 'imports', what: 'the import graph, by dependency-cruiser', run: checkImports },
  { name: 'publint', what: 'the packed packages as npm would get them', needsBuild: true, run: lintPackages },
  { name: 'attw', what: 'the types of the packed packages, as an ES module sees them', needsBuild: true, run: checkTypesOfPackages },
  { name: 'links', what: 'every import and export of the packed packages leads somewhere', needsBuild: true, run: followLinksOfPackages },
  {
    name: 'knip',
    what: 'no unused file, export or dependency',
    run: () => tool('node_modules/knip/bin/knip.js', ['--no-progress', '--no-config-hints', '--cache', '--cache-location', '.cache/knip']),
  },
  { name: 'size', what: 'bundle sizes against their budgets', needsBuild: true, run: checkSizes },
  { name: 'api', what: 'the reports of the public API in api/; `npm run api` writes them', needsBuild: true, run: checkApi },
  {
    name: 'readmes',
    what: 'every ts block of every README compiles, and runs where it says so',
    run: () => tool('node_modules/tsx/dist/cli.mjs', ['scripts/check-readmes.ts']),
  },
];

/**
 * Runs gates, two at a time at most, printing a line for each as it ends and the output of each that fails.
 *
 * @param {readonly Gate[]} chosen
 * @returns {Promise<readonly { gate: Gate, verdict: Verdict }[]>} The failed ones.
 */
export async function runGates(chosen) {
  const failed = [];
  const waiting = [...chosen];
  const worker = async () => {
    for (let gate = waiting.shift(); gate !== undefined; gate = waiting.shift()) {
      const started = performance.now();
      const verdict = await gate.run().catch((error) => ({ ok: false, output: String(error?.stack ?? error) }));
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      console.log(`${gate.name.padEnd(9)} ${verdict.ok ? 'ok    ' : 'FAILED'} ${seconds.padStart(5)} s   ${verdict.note ?? gate.what}`);
      if (verdict.ok) continue;
      failed.push({ gate, verdict });
      console.log(`${verdict.output.trimEnd()}\n`);
    }
  };
  await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, worker));
  return failed;
}

/** Runs a program of node_modules; it holds when the program exits with 0. */
async function tool(file, args) {
  const { code, output } = await runNode(file, args, { env: { FORCE_COLOR: '0', NO_COLOR: '1' } });
  return { ok: code === 0, output };
}

async function checkTypes() {
  const projects = ['scripts', ...workspaceFolders()].filter((folder) => folder !== '.' && existsSync(join(root, folder, 'tsconfig.json')));
  const outputs = [];
  for (const project of projects) {
    const { code, output } = await runNode('node_modules/typescript/bin/tsc', ['-p', project, '--pretty', 'false']);
    if (code !== 0) outputs.push(`tsc -p ${project}\n${output}`);
  }
  return { ok: outputs.length === 0, output: outputs.join('\n'), note: `tsc over ${projects.length} projects, with the type tests` };
}

function lint() {
  return tool('node_modules/oxlint/bin/oxlint', ['--deny-warnings', '--format', 'unix']);
}

function checkFormat() {
  return tool('node_modules/prettier/bin/prettier.cjs', [
    '--check',
    '--log-level',
    'warn',
    '--cache',
    '--cache-location',
    '.cache/prettier',
    '.',
  ]);
}

async function checkImports() {
  const folders = ['packages', 'apps', 'benchmarks', 'scripts'].filter((folder) => existsSync(join(root, folder)));
  const { code, output } = await runNode('node_modules/dependency-cruiser/bin/dependency-cruise.mjs', [
    '--config',
    '.dependency-cruiser.mjs',
    '--output-type',
    'err-long',
    ...folders,
  ]);
  const count = /(\d+) modules, (\d+) dependencies cruised/.exec(output);
  return {
    ok: code === 0,
    output,
    ...(count === null || code !== 0 ? {} : { note: `${count[1]} modules, ${count[2]} imports, every arrow allowed` }),
  };
}

async function checkApi() {
  const stale = findStaleReports();
  const output = stale.map((name) => `api/${name} is not what was built: run npm run api and review what it changes`).join('\n');
  return { ok: stale.length === 0, output };
}

async function checkSizes() {
  const rows = await measureBundles();
  const over = rows.filter((row) => row.bytes > row.budgetBytes);
  const describe = (row) =>
    `${row.name} ${(row.bytes / 1024).toFixed(1)} of ${row.budgetBytes / 1024} KiB${row.aimBytes === undefined ? '' : ` (aim ${row.aimBytes / 1024})`}`;
  return {
    ok: over.length === 0,
    output: over.map((row) => `over its budget: ${describe(row)}`).join('\n'),
    note: rows.map(describe).join(', '),
  };
}
