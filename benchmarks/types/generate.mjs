/**
 * Writes a TypeScript program that registers `--tools` tools with distinct zod shapes, so that the compiler's work can be
 * counted: `node generate.mjs --system mortise --out /tmp/x/mortise.ts`, then `tsc -p` with `--extendedDiagnostics`.
 *
 * Systems: `zod` (the same shapes and handlers typed by zod alone), `mortise`, `official-v1`, `official-v2`.
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';

/** The fields of tool `i`: every tool has names and bounds of its own, so that no type is shared between tools. */
function inputFields(i) {
  return [
    `query${i}: z.string().min(1).describe('What to look for')`,
    `limit${i}: z.number().int().min(1).max(${100 + i}).default(10)`,
    `kind${i}: z.enum(['a${i}', 'b${i}'])`,
    `exact${i}: z.boolean().optional()`,
  ].join(', ');
}

const outputFields = (i) => `total${i}: z.number(), names${i}: z.array(z.string())`;
const body = (i) => `({ structuredContent: { total${i}: args.limit${i}, names${i}: [args.query${i}, args.kind${i}] } })`;
const fullBody = (i) => `({ content: [], structuredContent: { total${i}: args.limit${i}, names${i}: [args.query${i}, args.kind${i}] } })`;

const SYSTEMS = {
  zod: {
    head: [`import { z } from 'zod';`],
    tool: (i) =>
      `export const in${i} = { ${inputFields(i)} };\nexport const out${i} = { ${outputFields(i)} };\nexport const object${i} = z.object(in${i});\nexport const handler${i} = async (args: z.output<typeof object${i}>) => ${body(i)};`,
  },
  mortise: {
    head: [
      `import { McpServer } from '@mortise/server';`,
      `import { z } from 'zod';`,
      `const server = new McpServer({ name: 'types', version: '1.0.0' });`,
    ],
    tool: (i) =>
      `server.registerTool('tool${i}', { description: 'Tool ${i}', inputSchema: { ${inputFields(i)} }, outputSchema: { ${outputFields(i)} } }, async (args) => ${body(i)});`,
  },
  'official-v1': {
    head: [
      `import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';`,
      `import { z } from 'zod';`,
      `const server = new McpServer({ name: 'types', version: '1.0.0' });`,
    ],
    tool: (i) =>
      `server.registerTool('tool${i}', { description: 'Tool ${i}', inputSchema: { ${inputFields(i)} }, outputSchema: { ${outputFields(i)} } }, async (args) => ${fullBody(i)});`,
  },
  'official-v2': {
    head: [
      `import { McpServer } from '@modelcontextprotocol/server';`,
      `import { z } from 'zod';`,
      `const server = new McpServer({ name: 'types', version: '1.0.0' });`,
    ],
    tool: (i) =>
      `server.registerTool('tool${i}', { description: 'Tool ${i}', inputSchema: z.object({ ${inputFields(i)} }), outputSchema: z.object({ ${outputFields(i)} }) }, async (args) => ${fullBody(i)});`,
  },
};

const { values } = parseArgs({
  options: { system: { type: 'string', default: 'mortise' }, tools: { type: 'string', default: '100' }, out: { type: 'string' } },
});
const system = SYSTEMS[values.system];
if (system === undefined) throw new Error(`--system must be one of ${Object.keys(SYSTEMS).join(', ')}, got "${values.system}"`);
const lines = [...system.head, ...Array.from({ length: Number(values.tools) }, (_, i) => system.tool(i)), 'export {};', ''];
const text = lines.join('\n');
if (values.out === undefined) process.stdout.write(text);
else {
  const file = resolve(values.out);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
