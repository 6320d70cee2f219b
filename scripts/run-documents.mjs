/**
 * Does what a reader of the documents does: every `sh` block of README.md, the packages' READMEs and docs/ is run, page by page, in an
 * empty folder that gets `@mortise/*` from the registry on loopback. `node scripts/run-documents.mjs how-to/host README` runs the pages
 * whose path contains one of the words; the packages must have been built.
 *
 * Blocks run in order, in one terminal as it were: `cd` and `export` last. A block with a file name (` ```ts server.ts `) writes the file.
 * A ` ```text output ` below a `sh` block is what its commands print (on standard output, or in all); `...` stands for whatever is there.
 * ` ```sh background ` runs until the page ends. It is ready when the port from 3000 to 3009 that it, or a file that it names, mentions
 * takes connections, or at its first line. ` ```sh skip <reason> ` is not run. ` ```sh needs <program> ` means that no block of the page is
 * run where that program is not installed.
 * A page whose front matter says `continues: <page>` goes on in the folder of that page. Other folders hold a package.json of a program
 * of ES modules, unless the page makes one (`npm init`).
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fencesOf, isFileName, listReadmes, pageBefore } from './check-readmes.mjs';
import { openRegistry } from './local-registry.mjs';
import { runCommand } from './run-command.mjs';

/**
 * @typedef {{ line: number, text: string } & ({ kind: 'file', name: string } | { kind: 'run', output?: string } | { kind: 'background' } |
 *   { kind: 'skip', reason: string })} Step
 * @typedef {{ page: string, steps: readonly Step[] }} Page
 * @typedef {{ path: string, env: Record<string, string | undefined>, state: string }} Folder `state`: what a terminal remembers.
 */

const blockTimeoutMs = 300_000;
const startTimeoutMs = 60_000;

/**
 * The pages that have something to run, in rows: those that go on from one another.
 *
 * @param {readonly string[]} [words] Only rows of which a page's path contains one of these.
 * @returns {readonly (readonly Page[])[]}
 */
export function rowsOfPages(words = ['']) {
  const pages = listReadmes().filter((page) => /^(?:README\.md|packages\/|docs\/)/.test(page));
  const next = (page) => pages.filter((other) => pageBefore(other) === page);
  const rowFrom = (page) => [page, ...next(page).flatMap(rowFrom)];
  const rows = pages.filter((page) => pageBefore(page) === undefined).map(rowFrom);
  return rows
    .filter((row) => row.some((page) => words.some((word) => page.includes(word))))
    .map((row) => row.map((page) => ({ page, steps: stepsOf(page) })))
    .filter((row) => row.some(({ steps }) => steps.some(({ kind }) => kind !== 'file')));
}

/** @returns {Step[]} */
function stepsOf(page) {
  const steps = [];
  const fences = fencesOf(page);
  const needed = fences.filter(({ language, words }) => language === 'sh' && words[0] !== 'skip' && words.includes('needs'));
  const missing = needed.map(({ words }) => words[words.indexOf('needs') + 1]).find((program) => !isInstalled(program));
  let previous;
  for (const { language, words, line, text, name } of fences) {
    const last = steps.at(-1);
    if (language === 'sh' && words[0] === 'skip') steps.push({ kind: 'skip', line, text, reason: words.slice(1).join(' ') });
    else if (language === 'sh' && missing !== undefined)
      steps.push({ kind: 'skip', line, text, reason: `${missing} is not installed here` });
    else if (language === 'sh') steps.push({ kind: words.includes('background') ? 'background' : 'run', line, text });
    else if (words.includes('output') && previous === 'sh' && last?.kind === 'run') last.output = text;
    else if (name !== undefined) steps.push({ kind: 'file', line, text, name });
    previous = language;
  }
  return steps;
}

function isInstalled(program) {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)));
}

/** Whether a row of pages uses one of the ports that pages may use: two of those do not run beside one another. */
export function usesPorts(row) {
  return portsOf(row).length > 0;
}

function portsOf(row) {
  const texts = row.flatMap(({ steps }) => steps.filter(({ kind }) => kind !== 'skip').map(({ text }) => text));
  return [...new Set(texts.flatMap(portsIn))];
}

function portsIn(text) {
  return [...text.matchAll(/\b300\d\b/g)].map(([port]) => Number(port));
}

/**
 * Opens the registry, unless one is given. `run` does what a row of pages says, and rejects with a text for the reader of the page where something is not
 * as the page says.
 */
export async function openDocuments(given) {
  const registry = given ?? (await openRegistry());
  const { stdout: cache } = await runCommand('npm', ['config', 'get', 'cache']);
  const prebuilds = await packSqliteDriver(registry.makeFolder());

  /** @returns {Folder} */
  const makeFolder = (row) => {
    const home = registry.makeFolder();
    const [path, state] = [join(home, 'page'), join(home, 'state')];
    for (const folder of [path, state, join(home, 'bin'), join(home, 'npm')]) mkdirSync(folder);
    // What npm has downloaded is this person's; what npx has installed is the page's.
    symlinkSync(join(cache.trim(), '_cacache'), join(home, 'npm/_cacache'), 'dir');
    const userConfig = join(homedir(), '.npmrc');
    if (existsSync(userConfig)) appendFileSync(join(home, '.npmrc'), `\n${readFileSync(userConfig, 'utf8')}`);
    const makesPackage = row.some(({ steps }) => steps.some(({ text }) => /npm init|mortise(?:\/cli)? create/.test(text)));
    if (!makesPackage) writeFileSync(join(path, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
    const searched = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => !/node_modules|node-gyp-bin/.test(folder));
    const env = {
      // Neither what vitest and npm tell the programs that they start, nor what is in this person's home.
      ...Object.fromEntries(
        Object.keys(process.env)
          .filter((name) =>
            /^(?:npm_(?!config_(?:registry|.*proxy|cafile))|VITEST|INIT_CWD|XDG_)|^(?:NODE_ENV|NODE_OPTIONS|TEST|DEV|PROD|MODE|SSR)$/.test(
              name,
            ),
          )
          .map((name) => [name, undefined]),
      ),
      HOME: home,
      PATH: [join(home, 'bin'), dirname(process.execPath), ...searched].join(delimiter),
      NO_COLOR: '1',
      FORCE_COLOR: undefined,
      npm_config_userconfig: join(home, '.npmrc'),
      npm_config_cache: join(home, 'npm'),
      npm_config_prefix: home,
      npm_config_audit: 'false',
      npm_config_fund: 'false',
      npm_config_update_notifier: 'false',
      npm_config_prefer_offline: 'true',
      npm_config_yes: 'true',
      // npm warns of settings that it does not know, such as the next one.
      npm_config_loglevel: 'error',
      npm_config_better_sqlite3_local_prebuilds: prebuilds,
    };
    return { path, env, state };
  };

  const run = async (row) => {
    const ports = portsOf(row);
    const taken = (await Promise.all(ports.map(isOpen))).flatMap((open, index) => (open ? [ports[index]] : []));
    if (taken.length > 0) throw new Error(`Another program listens on ${taken.join(', ')}, which these pages use: end it`);
    const folder = makeFolder(row);
    try {
      for (const { page, steps } of row) await runPage(page, steps, folder);
    } finally {
      // Many thousand files, which together take minutes to remove.
      await rm(dirname(folder.path), { recursive: true, force: true, maxRetries: 3 });
    }
  };
  return { run, close: registry.close };
}

/** Runs a page's steps. What it left running ends with it. */
async function runPage(page, steps, folder) {
  const running = [];
  try {
    for (const step of steps) {
      const fail = (what) => {
        throw new Error(`${page}:${step.line} ${what}\n--- the block\n${step.text.trimEnd()}`);
      };
      if (step.kind === 'file') {
        const file = join(currentFolder(folder), step.name);
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, step.text);
      } else if (step.kind === 'background') {
        const program = startBlock(step.text, folder);
        running.push(program);
        const fault = await waitUntilReady(program, await closedPorts(step.text, folder));
        if (fault !== undefined) fail(`${fault}\n--- it printed\n${program.output}`);
      } else if (step.kind === 'run') {
        const program = startBlock(step.text, folder);
        running.push(program);
        const code = await settleWithin(program.ended, blockTimeoutMs, 'no end');
        if (code !== 0) fail(`ended with ${code}:\n${running.map(({ output }) => output).join('')}`);
        const expected = step.output === undefined ? undefined : toPattern(step.output);
        if (expected === undefined || expected.test(`${program.stdout.trimEnd()}\n`) || expected.test(`${program.output.trimEnd()}\n`))
          continue;
        fail(
          `prints something else than its page says\n--- it prints\n${program.output.trimEnd()}\n--- the page says\n${step.output.trimEnd()}`,
        );
      }
    }
  } finally {
    for (const { end } of running) await end();
  }
}

/** Starts a block as the next lines of the page's terminal, in a process group of its own. */
function startBlock(text, { path, env, state }) {
  const remember = `trap 'pwd > "${state}/folder"; export -p > "${state}/exported"' EXIT`;
  const recall = `cd "$(cat "${state}/folder" 2>/dev/null || echo "${path}")"; . "${state}/exported" 2>/dev/null || true`;
  const child = spawn('bash', ['-c', `${recall}\n${remember}\nset -e\n${text}`], {
    cwd: path,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const program = { stdout: '', output: '', hasEnded: false, onOutput: () => undefined };
  for (const name of ['stdout', 'stderr']) {
    child[name].setEncoding('utf8').on('data', (chunk) => {
      // What a terminal shows of a line: curl prints headers with \r.
      const shown = chunk.replaceAll('\r', '');
      if (name === 'stdout') program.stdout += shown;
      program.output += shown;
      program.onOutput();
    });
  }
  program.ended = once(child, 'close').then(([code, signal]) => {
    program.hasEnded = true;
    return signal ?? code;
  });
  program.end = async () => {
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // All of the group have ended.
    }
    await program.ended;
  };
  return program;
}

/** Where the page's terminal is. */
function currentFolder({ path, state }) {
  const file = join(state, 'folder');
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : path;
}

/** The ports that a block, or a file that it names, mentions, and on which nobody listens yet. */
async function closedPorts(text, terminal) {
  const folder = currentFolder(terminal);
  const files = text.split(/[\s"'=]+/).filter((word) => isFileName(word) && existsSync(join(folder, word)));
  const ports = new Set([text, ...files.map((file) => readFileSync(join(folder, file), 'utf8'))].flatMap(portsIn));
  const open = await Promise.all([...ports].map(isOpen));
  return [...ports].filter((_, index) => !open[index]);
}

/** @returns What went wrong, if anything. */
async function waitUntilReady(program, ports) {
  const ready =
    ports.length === 0
      ? new Promise((resolve) => (program.onOutput = () => program.output.includes('\n') && resolve()))
      : onceOpen(ports, program);
  return await settleWithin(
    Promise.race([ready, program.ended.then((code) => `ended with ${code}, though it should run until its page ends`)]),
    startTimeoutMs,
    `is not ready after ${startTimeoutMs / 1000} s: ${ports.length === 0 ? 'it printed no line' : `nobody listens on ${ports.join(', ')}`}`,
  );
}

/** Resolves once one of the ports takes a connection, or the program has ended. */
async function onceOpen(ports, program) {
  while (!program.hasEnded) for (const port of ports) if (await isOpen(port)) return;
}

/** Whether somebody listens. Where nobody does, the answer takes a moment, so that asking again costs little. */
function isOpen(port) {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => resolve(true)).once('error', () => setTimeout(resolve, 50, false));
    socket.once('connect', () => socket.destroy());
  });
}

async function settleWithin(promise, timeoutMs, otherwise) {
  let timer;
  const late = new Promise((resolve) => (timer = setTimeout(resolve, timeoutMs, otherwise)));
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** An output with `...` for whatever is there: alone on a line for any lines or none, within a line for any part of it. */
function toPattern(output) {
  const escaped = output.trimEnd().replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  const dots = '\\.\\.\\.';
  const lines = escaped.split('\n');
  return new RegExp(`^${lines.map((line) => (line === dots ? '(?:.*\\n)*?' : `${line.replaceAll(dots, '.*?')}\n`)).join('')}$`);
}

/** The SQLite driver is compiled where no build of it can be downloaded, which takes minutes; the one of this workspace is there already. */
async function packSqliteDriver(folder) {
  const require = createRequire(import.meta.url);
  const driver = dirname(require.resolve('better-sqlite3/package.json'));
  const { version } = require('better-sqlite3/package.json');
  const name = `better-sqlite3-v${version}-node-v${process.versions.modules}-${process.platform}-${process.arch}.tar.gz`;
  if (existsSync(join(driver, 'build/Release/better_sqlite3.node')))
    await runCommand('tar', ['-czf', join(folder, name), '-C', driver, 'build/Release/better_sqlite3.node']);
  return folder;
}

if (process.argv[1] === import.meta.filename) {
  const words = process.argv.slice(2);
  const documents = await openDocuments();
  for (const row of rowsOfPages(words.length === 0 ? undefined : words)) {
    const startMs = performance.now();
    const fault = await documents.run(row).catch((error) => error);
    console.log(
      `${fault === undefined ? 'ok    ' : 'FAILED'} ${((performance.now() - startMs) / 1000).toFixed(1)} s ${row.map(({ page }) => page).join(', ')}`,
    );
    for (const { page, steps } of row)
      for (const { kind, line, reason } of steps) if (kind === 'skip') console.log(`skipped ${page}:${line} ${reason}`);
    if (fault === undefined) continue;
    console.log(fault.message);
    process.exitCode = 1;
  }
  await documents.close();
}
