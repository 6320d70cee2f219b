/** Structured output against the schemas that a server shows. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { NEWEST, type Revision, REVISIONS } from '@mortise/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { type ClientOptions, McpClient } from '../src/index.ts';
import { complete, info, ScriptedServer, scriptOf } from './scripted-server.ts';

const open: McpClient[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

const sumSchema = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] };

interface Given {
  readonly schemas: Readonly<Record<string, JsonValue>>;
  readonly result: JsonObject;
}

async function connect(
  given: Given,
  revision: Revision = NEWEST,
  options: ClientOptions = {},
): Promise<{ client: McpClient; server: ScriptedServer }> {
  const tools = (): JsonObject[] =>
    Object.entries(given.schemas).map(([name, outputSchema]) => ({ name, inputSchema: { type: 'object' }, outputSchema }));
  const server = new ScriptedServer(
    scriptOf(revision, {
      'tools/list': () => complete(revision, { tools: tools() }),
      'tools/call': () => complete(revision, { content: [], ...given.result }),
    }),
  );
  const client = await McpClient.connect(server.factory, info, { protocolVersion: revision.version, ...options });
  open.push(client);
  return { client, server };
}

const withSchemas = REVISIONS.filter(({ rules }) => rules.structuredContent !== 'none');

describe.each(withSchemas)('in $version', (revision) => {
  it('[TOOL-038][SCHEMA-012] structured output that does not fit its schema is an error that says where', async () => {
    const { client } = await connect({ schemas: { add: sumSchema }, result: { structuredContent: { sum: 'x' } } }, revision);
    await client.listTools();
    const failure = await client.callTool('add').catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'ToolResultError', code: 'ERR_TOOL_OUTPUT' });
    expect(failure).toMatchObject({ tool: 'add', issues: [{ path: ['sum'] }], result: { structuredContent: { sum: 'x' } } });
    expect(String(failure)).toContain('sum');
  });

  it('[TOOL-038] structured output that fits is given', async () => {
    const { client } = await connect({ schemas: { add: sumSchema }, result: { structuredContent: { sum: 3 } } }, revision);
    await client.listTools();
    for (let i = 0; i < 2; i += 1) expect((await client.callTool('add')).structuredContent).toEqual({ sum: 3 });
  });

  it('a result without the structured output that the schema promises is an error', async () => {
    const { client } = await connect({ schemas: { add: sumSchema }, result: {} }, revision);
    await client.listTools();
    await expect(client.callTool('add')).rejects.toThrow('has no structuredContent');
  });

  it('a result with isError is not checked', async () => {
    const { client } = await connect({ schemas: { add: sumSchema }, result: { isError: true, structuredContent: { odd: 1 } } }, revision);
    await client.listTools();
    expect(await client.callTool('add')).toMatchObject({ isError: true });
  });
});

it('[TOOL-034] null is a value, and absent is none', async () => {
  const given = { schemas: { maybe: { type: ['object', 'null'] } }, result: { structuredContent: null } };
  const { client } = await connect(given);
  await client.listTools();
  const result = await client.callTool('maybe');
  expect(result.structuredContent).toBeNull();
  given.result = {} as typeof given.result;
  await expect(client.callTool('maybe')).rejects.toMatchObject({ code: 'ERR_TOOL_OUTPUT' });
});

it('[SCHEMA-001][JSCH-001] a schema without $schema is read as 2020-12', async () => {
  const schema = { type: 'array', prefixItems: [{ type: 'number' }], items: false };
  const { client } = await connect({ schemas: { list: schema }, result: { structuredContent: [1, 2] } });
  await client.listTools();
  await expect(client.callTool('list')).rejects.toMatchObject({ code: 'ERR_TOOL_OUTPUT' });
});

it.each([
  { what: 'an unknown dialect', schema: { $schema: 'https://x.example/dialect', type: 'object' } },
  { what: 'a reference to the network', schema: { $ref: 'https://x.example/schema.json' } },
  { what: 'too much depth', schema: JSON.parse(`${'{"not":'.repeat(70)}{}${'}'.repeat(70)}`) as JsonObject },
  { what: 'too many subschemas', schema: { anyOf: Array.from({ length: 20_000 }, () => ({ type: 'object' })) } },
])(
  '[JSCH-002][SCHEMA-003][SCHEMA-009] a schema with $what fails its own tool, and neither hides nor fails any other',
  async ({ schema }) => {
    const given = { schemas: { bad: schema, good: sumSchema }, result: { structuredContent: { sum: 1 } } };
    const { client } = await connect(given);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['bad', 'good']);
    for (let i = 0; i < 2; i += 1) {
      const failure = await client.callTool('bad').catch((error: unknown) => error);
      expect(failure).toMatchObject({ name: 'ToolResultError', code: 'ERR_TOOL_OUTPUT' });
      expect(failure).toMatchObject({ tool: 'bad', issues: [], result: given.result });
      expect(String(failure)).toContain('The option "validator: false" turns the check off');
    }
    expect((await client.callTool('good')).structuredContent).toEqual({ sum: 1 });
    const trusting = await connect(given, NEWEST, { validator: false });
    await trusting.client.listTools();
    expect((await trusting.client.callTool('bad')).structuredContent).toEqual({ sum: 1 });
  },
);

it('[ROBUSTNESS-6] a pattern that may take too long is left out with one report, and the rest of its schema checked', async () => {
  const errors: Error[] = [];
  const properties = { a: { type: 'string', pattern: '^(a+)+$' } };
  const given = { schemas: { t: { type: 'object', properties } }, result: { structuredContent: { a: 'b' } as JsonObject } };
  const { client } = await connect(given, NEWEST, { onError: (error) => errors.push(error) });
  await client.listTools();
  for (let i = 0; i < 2; i += 1) expect((await client.callTool('t')).structuredContent).toEqual({ a: 'b' });
  expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining('the pattern "^(a+)+$" is not checked')]);
  given.result = { structuredContent: { a: 5 } };
  await expect(client.callTool('t')).rejects.toMatchObject({ code: 'ERR_TOOL_OUTPUT' });
});

it('tools that were never listed are not checked', async () => {
  const { client, server } = await connect({ schemas: { add: sumSchema }, result: { structuredContent: { sum: 'x' } } });
  expect((await client.callTool('add')).structuredContent).toEqual({ sum: 'x' });
  expect(server.requests('tools/list')).toHaveLength(0);
});

it('a changed schema counts from the next listing on, and none after a change that was not listed', async () => {
  const given = { schemas: { add: sumSchema } as Record<string, JsonValue>, result: { structuredContent: { total: 1 } } };
  const { client, server } = await connect(given);
  await client.listTools();
  await expect(client.callTool('add')).rejects.toMatchObject({ code: 'ERR_TOOL_OUTPUT' });
  given.schemas['add'] = { type: 'object', required: ['total'] };
  await client.listTools();
  await expect(client.callTool('add')).resolves.toMatchObject({ structuredContent: { total: 1 } });
  given.schemas['add'] = { type: 'object', required: ['other'] };
  await client.listTools();
  await expect(client.callTool('add')).rejects.toMatchObject({ code: 'ERR_TOOL_OUTPUT' });
  await server.notify('notifications/tools/list_changed');
  await client.ping();
  await expect(client.callTool('add')).resolves.toMatchObject({ structuredContent: { total: 1 } });
});

it('a listing that fails forgets nothing', async () => {
  const given = { schemas: { add: sumSchema }, result: { structuredContent: { sum: 'x' } } };
  const { client, server } = await connect(given);
  await client.listTools();
  server.script = { ...server.script, 'tools/list': () => ({ error: { code: -32603, message: 'no' } }) };
  await expect(client.listTools()).rejects.toMatchObject({ rpcCode: -32603 });
  await expect(client.callTool('add')).rejects.toMatchObject({ code: 'ERR_TOOL_OUTPUT' });
});

it("no tool is checked where the program says so, and by the program's own validator where it gives one", async () => {
  const given = { schemas: { add: sumSchema }, result: { structuredContent: { sum: 'x' } } };
  const off = await connect(given, NEWEST, { validator: false });
  await off.client.listTools();
  await expect(off.client.callTool('add')).resolves.toMatchObject({ structuredContent: { sum: 'x' } });
  const compiled: unknown[] = [];
  const validator = {
    compile: (schema: unknown) => {
      compiled.push(schema);
      return () => [{ message: 'never good enough', path: [] }];
    },
  };
  const own = await connect(given, NEWEST, { validator });
  await own.client.listTools();
  await expect(own.client.callTool('add')).rejects.toThrow('never good enough');
  expect(compiled).toEqual([sumSchema]);
});

describe('schemas are kept within a bound', () => {
  it('of characters: the ones listed last are checked, and the program hears of it', async () => {
    const errors: Error[] = [];
    const large = { type: 'object', required: ['never'], description: 'x'.repeat(3_000_000) };
    const given = { schemas: { one: large, two: large, three: large } as Record<string, JsonValue>, result: { structuredContent: {} } };
    const { client } = await connect(given, NEWEST, { onError: (error) => errors.push(error) });
    for (let i = 0; i < 3; i += 1) await client.listTools();
    await expect(client.callTool('one')).resolves.toMatchObject({ structuredContent: {} });
    for (const name of ['two', 'three']) {
      await expect(client.callTool(name)).rejects.toMatchObject({ code: 'ERR_TOOL_OUTPUT', issues: [expect.anything()] });
    }
    expect(errors.map(({ message }) => message)).toEqual(Array(3).fill(expect.stringContaining('results of 1 tools are not checked')));
  });

  it('[ROBUSTNESS-7] of tools, whatever their names', async () => {
    const names = Array.from({ length: 10_001 }, (_, index) => `tool-${index}`);
    const strict = { type: 'object', required: ['never'] };
    const given = { schemas: Object.fromEntries(names.map((name) => [name, strict])), result: { structuredContent: {} } };
    const { client } = await connect(given);
    await client.listTools();
    await expect(client.callTool('tool-0')).resolves.toMatchObject({ structuredContent: {} });
    await expect(client.callTool('tool-1')).rejects.toMatchObject({ code: 'ERR_TOOL_OUTPUT' });
  });
});
