/**
 * The example servers that the official SDK v1 ships for stdio run on `@mortise/compat-v1` with only import lines changed. One client of
 * the SDK drives each original and its copy: what it sees must be the same. Then our own client drives the copy in the modern era.
 */

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { CallToolResultSchema, CreateMessageRequestSchema, type Progress } from '@modelcontextprotocol/sdk/types.js';
import { McpClient } from '@mortise/client';
import { stdioTransport } from '@mortise/transport-stdio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const interop = fileURLToPath(new URL('..', import.meta.url));
const examples = join(createRequire(import.meta.url).resolve('@modelcontextprotocol/sdk/server/mcp.js'), '../../../esm/examples/server');

interface Call {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
}
interface Example {
  readonly file: string;
  readonly calls: readonly Call[];
  /** Replaces what differs from run to run. */
  readonly settle?: (text: string) => string;
}

const cases: readonly Example[] = [
  {
    file: 'progressExample',
    calls: [
      { name: 'count', arguments: { n: 4 } },
      { name: 'count', arguments: { n: 0 } },
      { name: 'count', arguments: {} },
    ],
  },
  {
    file: 'toolWithSampleServer',
    calls: [
      { name: 'summarize', arguments: { text: 'A long text' } },
      { name: 'summarize', arguments: { text: 7 } },
      { name: 'missing', arguments: {} },
    ],
  },
  {
    file: 'mcpServerOutputSchema',
    calls: [
      { name: 'get_weather', arguments: { city: 'Oslo', country: 'NO' } },
      { name: 'get_weather', arguments: { city: 'Oslo' } },
    ],
    // Its weather is random.
    settle: (text) =>
      text
        .replaceAll(/-?\d+(?:\.\d+)?/gu, '0')
        .replaceAll(/"(?:[NSEW]{1,2}|sunny|cloudy|rainy|stormy|snowy)"/gu, '"x"')
        .replaceAll(/\\"(?:[NSEW]{1,2}|sunny|cloudy|rainy|stormy|snowy)\\"/gu, 'x'),
  },
];

describe('the shipped stdio servers of SDK v1, with only imports changed', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(interop, '.compat-v1-'));
    await mkdir(join(folder, 'server'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** Writes the copy of an example. */
  async function copy(file: string): Promise<string> {
    const code = await readFile(join(examples, `${file}.js`), 'utf8');
    const path = join(folder, 'server', `${file}.mjs`);
    await writeFile(path, code.replaceAll(/from '\.\.\/\.\.\/([^']+)';/gu, "from '@mortise/compat-v1/$1';"));
    return path;
  }

  it.each(cases)('$file does what the original does', async (example) => {
    const { file, settle = (text: string) => text } = example;
    const original = await drive(join(examples, `${file}.js`), example);
    const ours = await drive(await copy(file), example);
    expect(settle(JSON.stringify(ours, null, 1))).toBe(settle(JSON.stringify(original, null, 1)));
    process.stdout.write(`compat-v1: ${file}: ${example.calls.length} calls, the same\n`);
  });

  it.each(cases)('$file serves a modern client too', async ({ file, calls }) => {
    const client = new McpClient({ name: 'modern', version: '1.0.0' }, { era: 'modern' });
    client.onSample(() => ({ model: 'm', role: 'assistant', content: { type: 'text', text: 'Short' } }));
    await client.connect(stdioTransport({ command: process.execPath, args: [await copy(file)], stderr: 'ignore' }));
    const [call] = calls;
    const seen: number[] = [];
    const result = await client.callTool(call?.name ?? '', (call?.arguments ?? {}) as never, {
      onProgress: ({ progress }) => seen.push(progress),
    });
    expect(result.isError).not.toBe(true);
    if (file === 'progressExample') expect(seen).toEqual([1, 2, 3, 4]);
    if (file === 'toolWithSampleServer') expect(result.content).toMatchObject([{ text: 'Short' }]);
    await client.close();
  });
});

/** Everything that a client of SDK v1 sees of a server. */
async function drive(path: string, { calls }: Example): Promise<unknown> {
  const client = new Client({ name: 'driver', version: '1.0.0' }, { capabilities: { sampling: {} } });
  const asked: unknown[] = [];
  // Our server asks for progress of what it asks, which v1 does not.
  client.setRequestHandler(CreateMessageRequestSchema, ({ params: { _meta, ...params } }) => {
    asked.push(params);
    return { model: 'm', role: 'assistant', content: { type: 'text', text: 'Short' } };
  });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [path], stderr: 'ignore' }));
  try {
    const outcomes: unknown[] = [];
    for (const call of calls) {
      const progress: Progress[] = [];
      const outcome = await client
        .request({ method: 'tools/call', params: call }, CallToolResultSchema, { onprogress: (each) => progress.push(each) })
        .catch(codeOf);
      outcomes.push({ call, outcome, progress });
    }
    const lists = await Promise.all([client.listTools(), client.listPrompts().catch(codeOf), client.listResources().catch(codeOf)]);
    return { server: client.getServerVersion(), capabilities: client.getServerCapabilities(), lists, asked, outcomes };
  } finally {
    await client.close();
  }
}

/** Our errors say more in their messages, under the same codes. */
function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown }).code;
}
