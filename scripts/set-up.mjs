/**
 * Brings a clone to the state that everything else needs: dependencies installed, packages built. Needs Node and npm alone:
 * the pinned pnpm comes through npx. Where nothing has changed since the last time, installing is skipped and building is
 * answered from turbo's cache.
 */

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, runCommand } from './run-command.mjs';

const stampFile = join(root, '.cache/installed.txt');
const quiet = {
  TURBO_TELEMETRY_DISABLED: '1',
  TURBO_NO_UPDATE_NOTIFIER: '1',
  DO_NOT_TRACK: '1',
  npm_config_update_notifier: 'false',
  npm_config_yes: 'true',
  npm_config_fund: 'false',
  npm_config_audit: 'false',
};

/** The folders of the workspace that have a package.json, the root first: what pnpm-workspace.yaml lists. */
export function workspaceFolders() {
  const listed = /^packages:\n((?:[ ]+-[ ].*\n)+)/m.exec(readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8'))?.[1] ?? '';
  const patterns = [...listed.matchAll(/-\s+['"]?([^'"\s]+)/g)].map((match) => match[1]);
  const folders = patterns.flatMap((pattern) => (pattern.endsWith('/*') ? foldersIn(pattern.slice(0, -2)) : [pattern]));
  return ['.', ...folders].filter((folder) => existsSync(join(root, folder, 'package.json')));
}

function foldersIn(parent) {
  if (!existsSync(join(root, parent))) return [];
  const entries = readdirSync(join(root, parent), { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map((entry) => `${parent}/${entry.name}`);
}

/** Runs the pnpm that package.json pins, fetched by npx where the machine has none. */
export function runPnpm(args, options = {}) {
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return runCommand('npx', ['--yes', packageManager, ...args], { ...options, env: { ...quiet, ...options.env } });
}

/**
 * Installs and builds. Ends the process with what went wrong where one of them fails.
 *
 * @param {{ build?: boolean }} [options] `build: false` installs only.
 */
export async function setUp({ build = true } = {}) {
  refuseOldNode();
  await installDependencies();
  if (build) await buildPackages();
}

function refuseOldNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const supported = (major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major > 22;
  if (supported) return;
  console.error(`Node ${process.versions.node} is too old here: the packages support 20.19 or later, and 22.12 or later.`);
  process.exit(1);
}

async function installDependencies() {
  const stamp = dependencyStamp();
  if (existsSync(join(root, 'node_modules/.modules.yaml')) && existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) {
    console.log('install   nothing has changed');
    return;
  }
  const inCi = Boolean(process.env.CI);
  const args = ['install', inCi ? '--frozen-lockfile' : '--prefer-offline', '--reporter=append-only'];
  console.log(`install   pnpm ${args.join(' ')}`);
  const { code, seconds } = await runPnpm(args, { show: true, env: { CI: inCi ? 'true' : '' } });
  if (code !== 0) fail('install', code);
  mkdirSync(join(root, '.cache'), { recursive: true });
  writeFileSync(stampFile, dependencyStamp());
  console.log(`install   done in ${seconds.toFixed(1)} s`);
}

/** Changes when anything changes that an installation depends on. */
function dependencyStamp() {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}\n`);
  const files = ['pnpm-lock.yaml', 'pnpm-workspace.yaml', '.npmrc', ...workspaceFolders().map((folder) => `${folder}/package.json`)];
  for (const file of files) {
    if (existsSync(join(root, file))) hash.update(`${file}\n`).update(readFileSync(join(root, file)));
  }
  return hash.digest('hex');
}

async function buildPackages() {
  for (const folder of workspaceFolders()) removeStaleOutput(folder);
  const args = ['exec', 'turbo', 'run', 'build', '--output-logs=errors-only', '--log-order=grouped', '--ui=stream'];
  console.log(`build     turbo over ${workspaceFolders().length - 1} folders; a minute or two the first time`);
  const { code, output, seconds } = await runPnpm(args, { show: process.stdout.isTTY === true });
  if (code !== 0) {
    if (process.stdout.isTTY !== true) process.stdout.write(output);
    fail('build', code);
  }
  const cached = /Cached:\s+(\d+) cached, (\d+) total/.exec(output);
  console.log(`build     ${cached === null ? '' : `${cached[2]} packages, ${cached[1]} unchanged, `}done in ${seconds.toFixed(1)} s`);
}

/** Deletes compiled files whose source is gone: the compiler leaves them, and they would be published. */
function removeStaleOutput(folder) {
  const dist = join(root, folder, 'dist');
  if (!existsSync(dist) || !existsSync(join(root, folder, 'src'))) return;
  for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    const source = /^(.*)\.(?:js|d\.ts)(?:\.map)?$/.exec(file)?.[1];
    // A chunk that several entries share has no source of its own; who writes chunks removes the old ones.
    if (source !== undefined && !/(?:^|[\\/])chunk-/.test(file) && !existsSync(join(root, folder, 'src', `${source}.ts`)))
      rmSync(join(dist, file));
  }
}

function fail(step, code) {
  console.error(`\n${step} failed with exit code ${code}.`);
  process.exit(1);
}
