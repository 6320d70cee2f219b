/**
 * The gates: every check of `npm test` that is not a test. `npm run gate -- lint types` runs the named ones, or all, after installing and, where one of
 * them looks at what is built, building.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root, runNode } from './run-command.mjs';
import { setUp, workspaceFolders } from './set-up.mjs';

/**
 * @typedef {{ ok: boolean, output: string }} Verdict `output`: what to print where it does not hold.
 * @typedef {{ name: string, what: string, needsBuild?: true, run: () => Promise<Verdict> }} Gate
 */

/** @type {readonly Gate[]} */
export const gates = [
  check('types', 'tsc over every package, app and script, with the type tests', checkTypes),
  tool('lint', 'oxlint and the rules in scripts/lint', 'oxlint/bin/oxlint --deny-warnings --format unix'),
  tool(
    'format',
    'prettier; `npm run format` repairs',
    'prettier/bin/prettier.cjs --check --log-level warn --cache --cache-location .cache/prettier .',
  ),
  tool(
    'imports',
    'the import graph, by dependency-cruiser',
    'dependency-cruiser/bin/dependency-cruise.mjs --config .dependency-cruiser.mjs --output-type err-long packages apps benchmarks scripts',
  ),
  tool(
    'knip',
    'no unused file, export or dependency',
    'knip/bin/knip.js --no-progress --no-config-hints --cache --cache-location .cache/knip',
  ),
  check('readmes', 'every ts block of every README compiles, and runs where it says so', checkReadmes),
  { ...check('packages', 'publint and attw over the tarballs that npm would get', checkTarballs), needsBuild: true },
  { ...check('size', 'bundles of the smallest programs', checkSizes), needsBuild: true },
  { ...check('api', 'the reports of the public API in api/; `npm run api` writes them', checkApi), needsBuild: true },
];

/** A gate that is a program of node_modules with its arguments, which exits with 0 where all is well. */
function tool(name, what, command) {
  return { name, what, run: () => runTool(...command.split(' ')) };
}

/** A gate that is a function, which resolves to a text for each fault. */
function check(name, what, find) {
  const run = async () => {
    const faults = await find();
    return { ok: faults.length === 0, output: faults.join('\n') };
  };
  return { name, what, run };
}

/**
 * Runs gates, two at a time, printing a line for each as it ends and the output of each that fails.
 *
 * @param {readonly Gate[]} chosen
 * @returns {Promise<readonly string[]>} The names of those that failed.
 */
export async function runGates(chosen) {
  const failed = [];
  const waiting = [...chosen];
  const worker = async () => {
    for (let gate = waiting.shift(); gate !== undefined; gate = waiting.shift()) {
      const started = performance.now();
      const { ok, output } = await gate.run().catch((error) => ({ ok: false, output: String(error?.stack ?? error) }));
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      console.log(`${gate.name.padEnd(9)} ${ok ? 'ok    ' : 'FAILED'} ${seconds.padStart(5)} s   ${gate.what}`);
      if (ok) continue;
      failed.push(gate.name);
      console.log(`${output.trimEnd()}\n`);
    }
  };
  await Promise.all([worker(), worker()]);
  return failed;
}

async function runTool(program, ...args) {
  const { code, output } = await runNode([`node_modules/${program}`, ...args], { env: { FORCE_COLOR: '0', NO_COLOR: '1' } });
  return { ok: code === 0, output };
}

async function checkTypes() {
  const projects = ['scripts', ...workspaceFolders()].filter((folder) => existsSync(join(root, folder, 'tsconfig.json')));
  const outputs = [];
  for (const project of projects) {
    const { ok, output } = await runTool('typescript/bin/tsc', '-p', project, '--pretty', 'false');
    if (!ok) outputs.push(`tsc -p ${project}\n${output}`);
  }
  return outputs;
}

// What these need is installed first, so it is imported when it is run.
async function checkReadmes() {
  const { findFaultsOfReadmes } = await import('./check-readmes.mjs');
  return await findFaultsOfReadmes();
}

async function checkTarballs() {
  const { findFaultsOfPackages } = await import('./check-packages.mjs');
  return await findFaultsOfPackages();
}

async function checkSizes() {
  const { measureBundles } = await import('./measure-bundles.mjs');
  const over = (await measureBundles()).filter(({ bytes, budgetBytes }) => bytes > budgetBytes);
  return over.map(({ name, bytes, budgetBytes }) => `${name}: ${bytes} bytes after gzip, of ${budgetBytes} at most`);
}

async function checkApi() {
  const { findStaleReports } = await import('./api-report.mjs');
  return findStaleReports().map((name) => `api/${name} is not what was built: run npm run api and review what it changes`);
}

if (process.argv[1] === import.meta.filename) {
  const names = process.argv.slice(2);
  const chosen = names.length === 0 ? gates : gates.filter(({ name }) => names.includes(name));
  if (chosen.length < names.length) {
    console.table(Object.fromEntries(gates.map(({ name, what }) => [name, { what }])));
    process.exit(2);
  }
  await setUp({ build: chosen.some(({ needsBuild }) => needsBuild) });
  process.exitCode = (await runGates(chosen)).length === 0 ? 0 : 1;
}
