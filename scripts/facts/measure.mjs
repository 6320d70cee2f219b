/** What "Why Mortise" says of each library, measured or tried. Each function gives a value, or undefined where the library has no such thing. */

import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { gzipSync } from 'node:zlib';
import { HttpDriver, startHttpServer } from '../../benchmarks/measure/http-peer.mjs';
import { pump, startPeer } from '../../benchmarks/measure/line-peer.mjs';
import { root, runCommand } from '../run-command.mjs';

const clientInfo = { name: 'facts', version: '1.0.0' };
const modern = '2026-07-28';
export const revisions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', modern];
const modernMeta = {
  'io.modelcontextprotocol/protocolVersion': modern,
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': clientInfo,
};

/** Median of some runs; a run that fails is the whole row's failure. */
async function median(rounds, run) {
  const values = [];
  for (let round = 0; round < rounds; round++) values.push(await run());
  return values.toSorted((x, y) => x - y)[Math.floor(rounds / 2)];
}

/** Opens a connection as a client of a revision does. @returns What belongs in `_meta`, or undefined where the server does not speak it. */
async function openIn(revision, request, notify) {
  if (revision === modern) {
    const found = await request('server/discover', { _meta: modernMeta });
    return found.result?.supportedVersions?.includes(modern) ? { _meta: modernMeta } : undefined;
  }
  const opened = await request('initialize', { protocolVersion: revision, capabilities: {}, clientInfo });
  if (opened.result?.protocolVersion !== revision) return undefined;
  await notify('notifications/initialized');
  return {};
}

function checkSum(message, a) {
  if (message.result?.content?.[0]?.text !== String(a + 1)) throw new Error(`wrong answer: ${JSON.stringify(message).slice(0, 300)}`);
}

const callOf = (a, meta) => ({ name: 'add', arguments: { a, b: 1 }, ...meta });

/** A client over HTTP that negotiates, keeps the session that it gets, and reads JSON and events. */
async function openHttp(url, revision, connections = 1) {
  const driver = new HttpDriver(url, 'legacy', connections);
  let session;
  let lastId = 0;
  const send = async (message) => {
    const isModern = message.params?._meta !== undefined;
    const name = message.params?.name;
    const text = await driver.post(
      { jsonrpc: '2.0', ...message },
      {
        ...(message.method !== 'initialize' && { 'mcp-protocol-version': revision }),
        ...(session !== undefined && { 'mcp-session-id': session }),
        ...(isModern && { 'mcp-method': message.method, ...(name !== undefined && { 'mcp-name': name }) }),
      },
      (headers) => (session ??= headers['mcp-session-id']),
    );
    if (message.id === undefined) return undefined;
    return JSON.parse(
      /^[{[]/.test(text)
        ? text
        : (text
            .match(/^data: ?(\{.*)$/gm)
            ?.at(-1)
            ?.slice(5) ?? '{}'),
    );
  };
  const request = (method, params) => send({ id: ++lastId, method, params });
  try {
    const meta = await openIn(revision, request, (method) => send({ method }));
    return { meta, request, close: () => driver.close() };
  } catch (error) {
    driver.close();
    throw error;
  }
}

/** Tries every revision: opened, and a tool called. Over HTTP one process answers them all. */
async function servedBy(open) {
  const served = [];
  for (const revision of revisions) {
    try {
      if (await open(revision)) served.push(revision);
    } catch {
      // An answer that is no MCP, or none: not served.
    }
  }
  return served;
}

export async function servedOverStdio({ servers }) {
  if (servers.stdio === undefined) return undefined;
  return servedBy(async (revision) => {
    const peer = startPeer(servers.stdio);
    try {
      const meta = await openIn(revision, peer.request, (method) => peer.notify(method));
      if (meta === undefined) return false;
      checkSum(await peer.request('tools/call', callOf(1, meta)), 1);
      return true;
    } finally {
      await peer.stop();
    }
  });
}

export async function servedOverHttp({ servers }) {
  const server = await startHttpServer(servers.http);
  try {
    return await servedBy(async (revision) => {
      const client = await openHttp(server.url, revision);
      try {
        if (client.meta === undefined) return false;
        checkSum(await client.request('tools/call', callOf(1, client.meta)), 1);
        return true;
      } finally {
        client.close();
      }
    });
  } finally {
    await server.stop();
  }
}

/** CPU microseconds of the server for a `tools/call`, 100 in flight, in the newest revision with `initialize` that it speaks. */
export async function stdioCpu({ servers }, { rounds, served }) {
  if (servers.stdio === undefined) return undefined;
  const revision = served.stdio.findLast((one) => one !== modern);
  return median(rounds, async () => {
    const peer = startPeer(servers.stdio);
    try {
      const meta = await openIn(revision, peer.request, (method) => peer.notify(method));
      const send = (a) => peer.request('tools/call', callOf(a, meta));
      await pump(4000, 100, send, checkSum);
      const before = await peer.cpu();
      await pump(10_000, 100, send, checkSum);
      return ((await peer.cpu()).cpuUs - before.cpuUs) / 10_000;
    } finally {
      await peer.stop();
    }
  });
}

/** The same over HTTP, 16 connections that stay open. */
export async function httpCpu({ servers }, { rounds, served }) {
  const revision = served.http.findLast((one) => one !== modern);
  return median(rounds, async () => {
    const server = await startHttpServer(servers.http);
    const client = await openHttp(server.url, revision, 16);
    try {
      const send = (a) => client.request('tools/call', callOf(a, client.meta));
      await pump(3000, 16, send, checkSum);
      const before = await server.usage();
      await pump(5000, 16, send, checkSum);
      return ((await server.usage()).cpuUs - before.cpuUs) / 5000;
    } finally {
      client.close();
      await server.stop();
    }
  });
}

/** Milliseconds from the start of the process to its answer to the first `tools/list`. */
export async function coldStart({ servers }, { rounds, served }) {
  if (servers.stdio === undefined) return undefined;
  const protocolVersion = served.stdio.findLast((one) => one !== modern);
  return median(rounds * 3, async () => {
    const startedAt = performance.now();
    const child = spawn(process.execPath, [servers.stdio], { stdio: ['pipe', 'pipe', 'ignore'] });
    const exited = new Promise((resolve) => child.once('exit', resolve));
    const messages = [
      { id: 1, method: 'initialize', params: { protocolVersion, capabilities: {}, clientInfo } },
      { method: 'notifications/initialized' },
      { id: 2, method: 'tools/list', params: {} },
    ];
    child.stdin.write(messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''));
    for await (const line of createInterface({ input: child.stdout })) if (JSON.parse(line).id === 2) break;
    const took = performance.now() - startedAt;
    child.kill('SIGKILL');
    await exited;
    return took;
  });
}

/** KiB after esbuild's minifier and gzip, with its schema library, of the stdio server; of the HTTP server where there is no stdio. */
export async function bundleKib({ servers, folder }) {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    entryPoints: [servers.stdio ?? servers.http],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    absWorkingDir: folder,
    logLevel: 'silent',
    plugins: [{ name: 'not-installed', setup: ({ onResolve }) => onResolve({ filter: /^[^./]/ }, leaveOut) }],
  });
  return gzipSync(outputFiles[0].contents, { level: 9 }).length / 1024;
}

/** Optional packages that are not installed stay imports. */
async function leaveOut({ path, kind, resolveDir }) {
  const [, name] = /^((?:@[^/]+\/)?[^/]+)/.exec(path);
  if (kind !== 'entry-point' && !isBuiltin(path) && folderOf(name, resolveDir) === undefined) return { path, external: true };
  return undefined;
}

/** What `npm install` of the packages brings: their number with all they need, and the MiB of their files. */
export async function installed({ packages, folder }) {
  const seen = new Map();
  const visit = async (name, from, isOptional) => {
    const path = folderOf(name, from);
    if (path === undefined) {
      if (isOptional) return;
      throw new Error(`${name} is not installed for ${from}`);
    }
    if (seen.has(path)) return;
    seen.set(path, await publishedBytes(path));
    const { dependencies = {}, optionalDependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = manifest(path);
    const peers = Object.keys(peerDependencies).filter((peer) => peerDependenciesMeta[peer]?.optional !== true);
    for (const next of Object.keys(dependencies)) await visit(next, path, next in optionalDependencies);
    for (const next of [...Object.keys(optionalDependencies), ...peers]) await visit(next, path, true);
  };
  for (const name of packages) await visit(name, folder, false);
  const bytes = [...seen.values()].reduce((sum, one) => sum + one, 0);
  return { packages: seen.size, mib: bytes / 1024 / 1024 };
}

const manifest = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

/** The folder of a package as Node finds it: upwards through node_modules. */
function folderOf(name, from) {
  for (let at = from; ; at = dirname(at)) {
    const found = join(at, 'node_modules', name);
    if (existsSync(join(found, 'package.json'))) return realpathSync(found);
    if (at === dirname(at)) return undefined;
  }
}

/** Ours are linked to their sources: npm says what would be published. */
async function publishedBytes(folder) {
  if (!folder.startsWith(join(root, 'packages'))) return sizeOf(folder);
  const { output, code } = await runCommand('npm', ['pack', '--dry-run', '--json', '--ignore-scripts', '--loglevel', 'silent'], {
    cwd: folder,
  });
  if (code !== 0) throw new Error(output);
  return JSON.parse(output.slice(output.indexOf('[')))[0].unpackedSize;
}

function sizeOf(folder) {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) bytes += entry.name === 'node_modules' ? 0 : sizeOf(path);
    else if (entry.isFile()) bytes += statSync(path).size;
  }
  return bytes;
}

export const versionOf = ({ packages, folder }) => manifest(folderOf(packages[0], folder)).version;

/** The transports that the makers publish; each was found by its import. */
export function transportsOf({ transports, folder }) {
  const require = createRequire(join(folder, 'package.json'));
  return Object.entries(transports).flatMap(([name, imports]) => (imports.every((one) => resolves(require, one, folder)) ? [name] : []));
}

function resolves(require, specifier, folder) {
  try {
    require.resolve(specifier);
    return true;
  } catch (error) {
    if (error.code !== 'ERR_PACKAGE_PATH_NOT_EXPORTED') return false;
    // For imports only: then its entry stands in its package.json.
    const [, name, path] = /^((?:@[^/]+\/)?[^/]+)(.*)$/.exec(specifier);
    const { exports = {} } = manifest(folderOf(name, folder));
    return path === '' ? '.' in exports || 'import' in exports : `.${path}` in exports;
  }
}

/** Which words of tasks stand in what is published, and which classes and functions make a store of tasks. */
export async function tasksOf({ packages, folder }) {
  const [first] = packages;
  const home = folderOf(first, folder);
  const names =
    first === '@mortise/server'
      ? ['tasks', 'store-sqlite', 'store-redis', 'store-postgres'].map((name) => join(root, 'packages', name))
      : [home];
  const texts = names.flatMap((name) => scripts(name).map((file) => readFileSync(file, 'utf8')));
  const stores = new Set(
    texts.flatMap((text) =>
      [...text.matchAll(/\bexport (?:declare )?(?:class|function) ((?:create)?\w*(?:TaskStore|Stores))\b/g)].map(([, name]) => name),
    ),
  );
  return {
    core: texts.some((text) => text.includes('tasks/result')),
    extension: texts.some((text) => text.includes('io.modelcontextprotocol/tasks')),
    stores: [...stores].toSorted(),
  };
}

function scripts(folder) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(m?js|d\.m?ts)$/.test(file) && !/(^|\/)(node_modules|test|src\/.*\.test)\//.test(file))
    .map((file) => join(folder, file));
}

/** The app kills the server of a running task twice, in both eras, and checks that the task ends with its result. */
export async function survivesKill() {
  const { code, output } = await runCommand(process.execPath, ['apps/long-task/dist/client.js']);
  if (code !== 0) throw new Error(output);
  return output.match(/kill -9/g).length;
}

/** The official suite, as `npm run conformance` plays it; the count of scenarios without a fault that is not listed with its reason. */
export async function conformance() {
  const { output } = await runCommand(process.execPath, ['scripts/conformance.mjs']);
  const [, passed, failed] = /(\d+) passed, (\d+) failed/.exec(output) ?? [];
  if (passed === undefined) throw new Error(output.slice(-500));
  const listed = JSON.parse(readFileSync(join(root, 'apps/conformance/baseline.json'), 'utf8'));
  return { passed: Number(passed), failed: Number(failed), listed: listed.flatMap(({ scenarios }) => scenarios).length };
}
