/** Bundle sizes: what esbuild makes of the smallest programs from the built packages, minified, counted after gzip. */

import { build } from 'esbuild';
import { builtinModules } from 'node:module';
import { basename } from 'node:path';
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
const clientProgram = (importTransport, transport) => `
  import { McpClient } from '@mortise/client';
  ${importTransport}
  const client = await McpClient.connect(${transport}, { name: 'smallest', version: '1.0.0' });
  console.log(await client.callTool('add', { a: 1, b: 2 }));
`;

/** The budgets are limits against growth, what was measured and 3 %: lower one when a bundle has shrunk. `without` is left out of the bundle. */
const programs = [
  { name: 'stdio server without its schema library', budgetBytes: 54.4 * kibibyte, code: serverProgram, without: ['zod'] },
  { name: 'stdio server with zod', budgetBytes: 147.8 * kibibyte, code: serverProgram },
  { name: 'client without a transport', budgetBytes: 38.8 * kibibyte, code: clientProgram('', 'globalThis.transport') },
  {
    name: 'stdio client',
    budgetBytes: 48.3 * kibibyte,
    code: clientProgram(
      `import { stdioTransport } from '@mortise/transport-stdio/client';`,
      `stdioTransport({ command: 'node', args: ['server.js'] })`,
    ),
  },
  {
    name: 'HTTP client, without OAuth',
    budgetBytes: 51.5 * kibibyte,
    code: clientProgram(`import { httpTransport } from '@mortise/transport-http/client';`, `httpTransport('http://127.0.0.1:3000/mcp')`),
  },
];

/**
 * @returns {Promise<readonly { name: string, minifiedBytes: number, bytes: number, budgetBytes: number }[]>} What each program loads at
 *   its start (what it imports on demand is not counted); `bytes` after gzip.
 */
export async function measureBundles() {
  return await Promise.all(
    programs.map(async ({ name, budgetBytes, code, without = [] }) => {
      const chunks = await bundle(code, without);
      const total = (measure) => chunks.reduce((sum, chunk) => sum + measure(chunk), 0);
      const bytes = total((chunk) => gzipSync(chunk, { level: 9 }).length);
      return { name, minifiedBytes: total(({ length }) => length), bytes, budgetBytes: Math.round(budgetBytes) };
    }),
  );
}

/** The texts of a program's entry and of the chunks that it imports statically. */
async function bundle(code, without) {
  const { outputFiles, metafile } = await build({
    stdin: { contents: code, resolveDir: root, sourcefile: 'program.js' },
    bundle: true,
    minify: true,
    splitting: true,
    metafile: true,
    write: false,
    outdir: 'out',
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: [...without, ...builtinModules, ...builtinModules.map((name) => `node:${name}`)],
    absWorkingDir: root,
    logLevel: 'silent',
    plugins: [workspacePackages()],
  });
  const { outputs } = metafile;
  const loaded = new Set();
  const visit = (path) => {
    if (loaded.has(path) || outputs[path] === undefined) return;
    loaded.add(path);
    for (const { path: next, kind } of outputs[path].imports) if (kind === 'import-statement') visit(next);
  };
  visit(Object.keys(outputs).find((path) => outputs[path].entryPoint === 'program.js'));
  const names = new Set([...loaded].map((path) => basename(path)));
  return outputFiles.filter(({ path }) => names.has(basename(path))).map(({ contents }) => contents);
}
