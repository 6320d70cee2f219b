/**
 * Brings a clone to the state that everything else needs: dependencies installed, packages built. Needs Node and npm alone: the pinned pnpm
 * comes through npx. Run by itself (`npm run build`) it does both; where nothing has changed it takes three seconds.
 */

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, runCommand } from './run-command.mjs';

const stampFile = join(root, '.cache/installed.txt');
const quiet = {
  TURBO_TELEMETRY_DISABLED: '1',
  TURBO_NO_UPDATE_NOTIFIER: '1',
  DO_NOT_TRACK: '1',
  npm_config_update_notifier: 'false',
  npm_config_yes: 'true',
};

/** The folders of the workspace, as pnpm-workspace.yaml lists them. */
export function workspaceFolders() {
  const foldersIn = (parent) => readdirSync(join(root, parent)).map((name) => `${parent}/${name}`);
  const folders = [...foldersIn('packages'), ...foldersIn('apps'), 'benchmarks', 'interop'];
  return folders.filter((folder) => existsSync(join(root, folder, 'package.json')));
}

/** Runs the pnpm that package.json pins, fetched by npx where the machine has none. */
export function runPnpm(args, options = {}) {
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return runCommand('npx', ['--yes', packageManager, ...args], { ...options, env: { ...quiet, ...options.env } });
}

/**
 * Installs what is missing and builds what has changed. Ends the process where one of them fails.
 *
 * @param {{ build?: boolean }} [options] `build: false` installs only.
 */
export async function setUp({ build = true } = {}) {
  await installDependencies();
  if (!build) return;
  const args = ['exec', 'turbo', 'run', 'build', '--output-logs=errors-only', '--log-order=grouped', '--ui=stream'];
  const { code, output, seconds } = await runPnpm(args);
  if (code !== 0) fail('build', output);
  console.log(`build     done in ${seconds.toFixed(1)} s`);
}

async function installDependencies() {
  const stamp = dependencyStamp();
  if (existsSync(join(root, 'node_modules/.modules.yaml')) && existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return;
  const inCi = Boolean(process.env.CI);
  const args = ['install', inCi ? '--frozen-lockfile' : '--prefer-offline', '--reporter=append-only'];
  console.log(`install   pnpm ${args.join(' ')}`);
  const { code } = await runPnpm(args, { show: true, env: { CI: inCi ? 'true' : '' } });
  if (code !== 0) fail('install', '');
  mkdirSync(join(root, '.cache'), { recursive: true });
  writeFileSync(stampFile, dependencyStamp());
}

/** Changes when anything changes that an installation depends on. */
function dependencyStamp() {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}\n`);
  const manifests = ['.', ...workspaceFolders()].map((folder) => `${folder}/package.json`);
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', ...manifests]) hash.update(readFileSync(join(root, file)));
  return hash.digest('hex');
}

function fail(step, output) {
  console.error(`${output}\n${step} failed`);
  process.exit(1);
}

if (process.argv[1] === import.meta.filename) await setUp();
