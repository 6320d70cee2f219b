/**
 * Bundle sizes: what a bundler makes of the smallest programs, minified and compressed, from the built packages. The budgets
 * are limits against growth, what was measured and 3 %: lower one when a bundle has shrunk. The aims are what the project wants to
 * reach; docs/decisions/bundle-size.md says what stands between.
 */

import { build } from 'esbuild';
import { existsSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join, relative, sep } from 'node:path';
import { gzipSync } from 'node:zlib';
import { root } from './run-command.mjs';
import { workspacePackages } from './workspace-packages.mjs';

const kibibyte = 1024;

const serverProgram = `
  import { McpServer } from '@mortise/server';
  import { serveStdio } from '@mortise/transport-stdio/server';
  import { z } from 'zod';
  const server = new McpServer({ name: 'smallest', version: '1.0.0' });
  server.registerTool(
    'add',
    { description: 'Add', inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } },
    ({ a, b }) => ({ structuredContent: { sum: a + b } }),
  );
  await serveStdio(server);
`;

/** The smallest programs, in the words of a reader of the README. `without` is left out of the bundle. */
export const programs = [
  {
    name: 'stdio server without its schema library',
    needs: ['server', 'transport-stdio'],
    without: ['zod'],
    budgetBytes: 53.6 * kibibyte,
    aimBytes: 15 * kibibyte,
    code: serverProgram,
  },
  {
    name: 'stdio server with zod',
    needs: ['server', 'transport-stdio'],
    budgetBytes: 144.7 * kibibyte,
    code: serverProgram,
  },
  {
    name: 'client without a transport',
    needs: ['client'],
    budgetBytes: 28.7 * kibibyte,
    aimBytes: 12 * kibibyte,
    code: `
      import { McpClient } from '@mortise/client';
      export const connect = (transport) => McpClient.connect(transport, { name: 'smallest', version: '1.0.0' });
    `,
  },
  {
    name: 'stdio client',
    needs: ['client', 'transport-stdio'],
    budgetBytes: 38.9 * kibibyte,
    aimBytes: 18 * kibibyte,
    code: `
      import { McpClient } from '@mortise/client';
      import { stdioTransport } from '@mortise/transport-stdio/client';
      const client = await McpClient.connect(stdioTransport({ command: 'node', args: ['server.js'] }), { name: 'smallest', version: '1.0.0' });
      console.log(await client.callTool('add', { a: 1, b: 2 }));
    `,
  },
  {
    name: 'HTTP client, without OAuth',
    needs: ['client', 'transport-http'],
    budgetBytes: 43 * kibibyte,
    aimBytes: 12 * kibibyte,
    code: `
      import { McpClient } from '@mortise/client';
      import { httpTransport } from '@mortise/transport-http/client';
      const client = await McpClient.connect(httpTransport('http://127.0.0.1:3000/mcp'), { name: 'smallest', version: '1.0.0' });
      console.log(await client.callTool('add', { a: 1, b: 2 }));
    `,
  },
];

/**
 * Bundles every program whose packages are built.
 *
 * @param {{ fromSources?: boolean }} [options] `fromSources` bundles what lies in src/ instead of what was built, so that `files`
 *   names single modules; the sums differ by a little.
 * @returns {Promise<readonly { name: string, bytes: number, minifiedBytes: number, budgetBytes: number, aimBytes?: number, files: ReadonlyMap<string, number> }[]>}
 *   `bytes` after gzip; `files`: what each source file adds to the minified text.
 */
export async function measureBundles({ fromSources = false } = {}) {
  const rows = [];
  for (const { name, needs, budgetBytes, aimBytes, code, without = [] } of programs) {
    if (!needs.every((folder) => existsSync(join(root, 'packages', folder, 'dist')))) continue;
    const chunks = await bundle(code, without, fromSources);
    const total = (measure) => chunks.reduce((sum, chunk) => sum + measure(chunk.contents), 0);
    rows.push({
      name,
      budgetBytes,
      aimBytes,
      minifiedBytes: total((contents) => contents.length),
      bytes: total((contents) => gzipSync(contents, { level: 9 }).length),
      files: new Map(chunks.flatMap(({ inputs }) => Object.entries(inputs).map(([path, { bytesInOutput }]) => [path, bytesInOutput]))),
    });
  }
  return rows;
}

const toOptions = (code, without) => ({
  stdin: { contents: code, resolveDir: root, sourcefile: 'program.js' },
  bundle: true,
  minify: true,
  write: false,
  outdir: 'out',
  format: 'esm',
  platform: 'node',
  target: 'node20',
  external: [...without, ...builtinModules, ...builtinModules.map((name) => `node:${name}`)],
  absWorkingDir: root,
  logLevel: 'silent',
});

/**
 * Bundles a program into one file, as if nothing that it loads on demand were there: what all of it weighs without the cost of splitting.
 *
 * @param {(typeof programs)[number]} program
 * @returns {Promise<{ code: string, map: { mappings: string, sources: readonly string[] } }>}
 */
export async function bundleInOneFile({ code, without = [] }) {
  const leftOut = {
    name: 'left-out',
    setup: ({ onResolve }) => {
      onResolve({ filter: /^/ }, ({ path, kind }) => (kind === 'dynamic-import' ? { path, external: true } : undefined));
    },
  };
  const result = await build({ ...toOptions(code, without), sourcemap: 'external', plugins: [leftOut, workspacePackages()] });
  const textOf = (end) => result.outputFiles.find(({ path }) => path.endsWith(end)).text;
  return { code: textOf('.js'), map: JSON.parse(textOf('.map')) };
}

/** What the program loads at its start: its entry and the chunks that it imports statically. */
async function bundle(code, without, fromSources) {
  const result = await build({
    ...toOptions(code, without),
    splitting: true,
    metafile: true,
    conditions: fromSources ? ['mortise-source'] : [],
    plugins: [workspacePackages()],
  });
  const { outputs } = result.metafile;
  const loaded = new Set();
  const visit = (path) => {
    if (loaded.has(path)) return;
    loaded.add(path);
    for (const { path: next, kind } of outputs[path]?.imports ?? []) if (kind === 'import-statement') visit(next);
  };
  // What loads on demand is an entry point to the bundler too.
  visit(Object.keys(outputs).find((path) => outputs[path].entryPoint === 'program.js'));
  const contents = new Map(result.outputFiles.map((file) => [relative(root, file.path).split(sep).join('/'), file.contents]));
  return [...loaded].filter((path) => contents.has(path)).map((path) => ({ contents: contents.get(path), inputs: outputs[path].inputs }));
}
