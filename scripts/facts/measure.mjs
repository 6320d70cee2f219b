/** What "Why Mortise" says of each library, measured or tried. Each function gives a value, or undefined where the library has no such thing. */

import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { REVISIONS, revisionsOf } from '@mortise/protocol';
import { HttpDriver, startHttpServer } from '../../benchmarks/measure/http-peer.mjs';
import { coldStart, openPeer, serverCpu, startPeer } from '../../benchmarks/measure/line-peer.mjs';
import { root, runCommand } from '../run-command.mjs';

/** Oldest first. */
export const revisions = REVISIONS.map(({ version }) => version).toReversed();

/** Whether a revision opens with `initialize`. */
export function isLegacy(version) {
  return revisionsOf('legacy').some((revision) => revision.version === version);
}

/** Median of some runs; a run that fails is the whole row's failure. */
async function median(rounds, run) {
  const values = [];
  for (let round = 0; round < rounds; round++) values.push(await run());
  return values.toSorted((x, y) => x - y)[Math.floor(rounds / 2)];
}

function checkSum(message, a) {
  if (message.result?.content?.[0]?.text !== String(a + 1)) throw new Error(`wrong answer: ${JSON.stringify(message).slice(0, 300)}`);
}

const makeParams = (a) => ({ name: 'add', arguments: { a, b: 1 } });

/** A peer over HTTP that keeps the session that it gets, and reads JSON and events. */
function httpPeer({ url, usage }, revision, connections) {
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
  return {
    request: (method, params) => send({ id: ++lastId, method, params }),
    notify: (method) => send({ method }),
    cpu: usage,
    stop: () => driver.close(),
  };
}

/** Tries every revision: opened, and a tool called. */
async function servedBy(startPeerIn) {
  const served = [];
  for (const revision of revisions) {
    const peer = startPeerIn(revision);
    try {
      const meta = await openIn(revision, peer);
      checkSum(await peer.request('tools/call', { ...makeParams(1), ...(meta && { _meta: meta }) }), 1);
      served.push(revision);
    } catch {
      // An answer that is no MCP, or none: not served.
    } finally {
      await peer.stop();
    }
  }
  return served;
}

/** Opens a connection as a client of a revision does. @returns The `_meta` of its requests. @throws The server does not speak it. */
async function openIn(revision, peer) {
  if (isLegacy(revision)) return openPeer(peer, 'legacy', revision);
  const meta = await openPeer(peer, 'modern', revision);
  const found = await peer.request('server/discover', { _meta: meta });
  if (!found.result?.supportedVersions?.includes(revision)) throw new Error(`${revision} is not among the supported versions`);
  return meta;
}

export async function servedOverStdio({ servers }) {
  if (servers.stdio === undefined) return undefined;
  return servedBy(() => startPeer(servers.stdio));
}

/** One process answers them all. */
export async function servedOverHttp({ servers }) {
  const server = await startHttpServer(servers.http);
  try {
    return await servedBy((revision) => httpPeer(server, revision, 1));
  } finally {
    await server.stop();
  }
}

/** Settings of a measurement: the newest revision with `initialize` that is served. */
const legacyOf = (served) => ({ era: 'legacy', version: served.findLast(isLegacy) });

/** CPU microseconds of the server for a `tools/call`, 100 in flight. */
export async function stdioCpu({ servers }, { rounds, served }) {
  if (servers.stdio === undefined) return undefined;
  const settings = { ...legacyOf(served.stdio), makeParams, check: checkSum, warmUp: 4000, count: 10_000, inFlight: 100 };
  return median(rounds, () => serverCpu(startPeer(servers.stdio), settings));
}

/** The same over HTTP, 16 connections that stay open. */
export async function httpCpu({ servers }, { rounds, served }) {
  const settings = { ...legacyOf(served.http), makeParams, check: checkSum, warmUp: 3000, count: 5000, inFlight: 16 };
  return median(rounds, async () => {
    const server = await startHttpServer(servers.http);
    try {
      return await serverCpu(httpPeer(server, settings.version, 16), settings);
    } finally {
      await server.stop();
    }
  });
}

/** Milliseconds from the start of the process to its answer to the first `tools/list`. */
export async function startMs({ servers }, { rounds, served }) {
  if (servers.stdio === undefined) return undefined;
  const { era, version } = legacyOf(served.stdio);
  return median(rounds * 3, () => coldStart(servers.stdio, era, version));
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

/** The transports that the makers publish. @throws An import that stands for one fails. */
export async function transportsOf({ transports, folder }) {
  const program = Object.values(transports)
    .flat()
    .map((name) => `import '${name}';`)
    .join('\n');
  const { code, output } = await runCommand(process.execPath, ['--input-type=module', '--eval', program], { cwd: folder });
  if (code !== 0) throw new Error(output);
  return Object.keys(transports);
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
