import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@mortise/jsonrpc-core';
import { createJsonSchemaValidator } from '@mortise/protocol/json-schema';
import { McpServer, ResourceTemplate } from '@mortise/server';
import { createTasks } from '@mortise/tasks/server';
import { serveHttp } from '@mortise/transport-http/node';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { run } from './run.ts';

const text = readFileSync(new URL('../schemas/output.json', import.meta.url), 'utf8');
const schemas = JSON.parse(text) as JsonObject & { $defs: Readonly<Record<string, JsonObject>> };

/** What is wrong with a value, by a definition of `schemas/output.json`. */
function findFaults(definition: string, value: unknown): readonly unknown[] {
  expect(schemas.$defs).toHaveProperty(definition);
  const { compile } = createJsonSchemaValidator({ from: 'author' });
  return compile({ $defs: schemas.$defs, $ref: `#/$defs/${definition}` })(value as JsonObject);
}

let url: string;
beforeEach(async () => {
  const tasks = createTasks();
  const server = new McpServer({ name: 'shapes', version: '1.0.0' }, { instructions: 'Ask.', extensions: [tasks] });
  server.registerTool('add', { inputSchema: { a: z.number() } }, ({ a }) => ({ structuredContent: { sum: a } }));
  server.registerTool('long', { execution: { taskSupport: 'required' } }, () => 'done');
  server.registerTool('fail', {}, () => ({ content: [], isError: true }));
  const list = undefined;
  server.registerResource(
    'user',
    new ResourceTemplate('user://{name}', { list, complete: { name: () => ['ada'] } }),
    {},
    (uri) => uri.href,
  );
  server.registerPrompt('greet', { argsSchema: { name: z.string() } }, ({ name }) => `Say hello to ${name}`);
  const serving = await serveHttp(server, { port: 0 });
  onTestFinished(() => serving.close());
  ({ url } = serving);
});

async function print(...args: string[]): Promise<unknown> {
  const [command = '', ...more] = args;
  const { out } = await run([command, url, ...more, '--json']);
  return JSON.parse(out);
}

it.each([
  ['inspect', []],
  ['list', []],
  ['call', ['add', 'a=1']],
  ['call', ['fail']],
  ['call', ['long', '--detach']],
  ['read', ['user://ada']],
  ['prompt', ['greet', 'name=Ada']],
  ['complete', ['user://{name}', 'name', 'a']],
  ['bench', ['add', 'a=1', '--duration', '0.05']],
  ['doctor', ['--call']],
] as const)('what %s prints with --json has the published shape (%j)', async (command, args) => {
  const value = await print(command, ...args);
  expect(value).not.toHaveProperty('error');
  expect(findFaults(command, value)).toEqual([]);
});

it('so has the state of a task, and its result', async () => {
  const { taskId } = (await print('call', 'long', '--detach')) as { taskId: string };
  for (const more of [[], ['--wait']]) expect(findFaults('task', await print('task', taskId, ...more))).toEqual([]);
});

it('so has an error, of the command line and of the server', async () => {
  expect(findFaults('error', await print('read', 'none://'))).toEqual([]);
  expect(await print('call', 'none')).toMatchObject({ error: {} });
  expect(findFaults('error', await print('call', 'none'))).toEqual([]);
});

it('so has each line of replay and of listen', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mortise-shapes-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };
  const entries = [
    { ms: 0, from: 'client', message: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } } },
    { ms: 1, from: 'server', message: { jsonrpc: '2.0', id: 1, result: { tools: [] } } },
  ];
  writeFileSync(join(folder, 'session.jsonl'), entries.map((entry) => JSON.stringify(entry)).join('\n'));
  const { out } = await run(['replay', join(folder, 'session.jsonl'), url, '--json']);
  expect(findFaults('replay', JSON.parse(out))).toEqual([]);
  expect(findFaults('replay', { id: 1 })).not.toEqual([]);
  expect(findFaults('listen', { method: 'notifications/tools/list_changed' })).toEqual([]);
});
