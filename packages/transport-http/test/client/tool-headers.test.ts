/** Arguments that travel in headers: learnt from lists of tools, and looked up again where a server misses them. */

import type { JsonObject, JsonRpcResponse } from '@mortise/jsonrpc-core';
import { McpClient } from '@mortise/client';
import { HttpClientError, httpTransport, StreamableHTTPClientTransport } from '@mortise/transport-http/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { callRequest, complete, discovery, modernRequest } from './support/modern.ts';
import { ScriptedHttp, type Visit } from './support/scripted-http.ts';
import { SENDERS } from './support/senders.ts';

let server: ScriptedHttp;
beforeEach(async () => {
  server = await ScriptedHttp.listen();
});
afterEach(() => server.close());

function tool(name: string, properties: JsonObject, rest: JsonObject = {}): JsonObject {
  return { name, inputSchema: { type: 'object', properties, ...rest } };
}

function marked(header: JsonObject[string], type: JsonObject[string] = 'string'): JsonObject {
  return { type, 'x-mcp-header': header };
}

function paramsOf(visit: Visit | undefined): Record<string, unknown> {
  return Object.fromEntries(Object.entries(visit?.headers ?? {}).filter(([name]) => name.startsWith('mcp-param-')));
}

describe.each(SENDERS)('over $name', ({ options }) => {
  let transport: StreamableHTTPClientTransport;
  let errors: Error[];
  beforeEach(() => {
    errors = [];
    transport = new StreamableHTTPClientTransport(server.url, options);
    transport.onerror = (error) => void errors.push(error);
    server.on('tools/call', (visit) => visit.result(complete));
  });
  afterEach(() => transport.close());

  async function list(...tools: JsonObject[]): Promise<JsonRpcResponse> {
    server.on('tools/list', (visit) => visit.result({ tools, ttlMs: 0 }));
    return transport.exchange(modernRequest('tools/list'));
  }

  async function call(name: string, args: JsonObject): Promise<Record<string, unknown>> {
    await transport.exchange(callRequest(name, args));
    return paramsOf(server.visits.at(-1));
  }

  const values = [
    { id: '[HDR-021]', what: 'a string as it is', type: 'string', value: 'us-west1', header: 'us-west1' },
    { id: '[HDR-021]', what: 'inner spaces as they are', type: 'string', value: 'a b', header: 'a b' },
    { id: '[HDR-021]', what: 'an empty string as an empty value', type: 'string', value: '', header: '' },
    { id: '[HDR-021]', what: 'an integer in decimal', type: 'integer', value: -7, header: '-7' },
    { id: '[HDR-021]', what: 'a large integer in decimal', type: 'integer', value: Number.MAX_SAFE_INTEGER, header: '9007199254740991' },
    { id: '[HDR-021]', what: 'true', type: 'boolean', value: true, header: 'true' },
    { id: '[HDR-021]', what: 'false', type: 'boolean', value: false, header: 'false' },
    {
      id: '[HDR-022]',
      what: 'other characters than ASCII',
      type: 'string',
      value: 'Hello, 世界',
      header: '=?base64?SGVsbG8sIOS4lueVjA==?=',
    },
    { id: '[HDR-022]', what: 'spaces at its edges', type: 'string', value: ' padded ', header: '=?base64?IHBhZGRlZCA=?=' },
    { id: '[HDR-022]', what: 'control characters', type: 'string', value: 'line1\nline2', header: '=?base64?bGluZTEKbGluZTI=?=' },
    {
      id: '[HDR-023]',
      what: 'what looks like the encoding',
      type: 'string',
      value: '=?base64?literal?=',
      header: '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=',
    },
  ];
  const titled = values.map((each) => [`${each.id}[HDR-014] mirrors ${each.what}`, each] as const);
  it.each(titled)('%s', async (_title, { type, value, header }) => {
    await list(tool('t', { arg: marked('Arg', type) }));
    expect(await call('t', { arg: value })).toEqual({ 'mcp-param-arg': header });
  });

  it('[HDR-020][TOOL-023] reads the argument at its exact path, and sends no header for null or nothing', async () => {
    await list(
      tool('t', { deep: { type: 'object', properties: { region: marked('Region', ['string', 'null']) } }, plain: { type: 'string' } }),
    );
    expect(await call('t', { deep: { region: 'eu' }, region: 'other', plain: 'p' })).toEqual({ 'mcp-param-region': 'eu' });
    expect(await call('t', { deep: { region: null } })).toEqual({});
    expect(await call('t', { deep: {} })).toEqual({});
    expect(await call('t', { region: 'other' })).toEqual({});
    expect(await call('t', { deep: ['eu'] })).toEqual({});
  });

  it('[HDR-014] sends a parameter called "Method" as a parameter', async () => {
    await list(tool('t', { m: marked('Method') }));
    await call('t', { m: 'GET' });
    expect(server.visits.at(-1)?.headers).toMatchObject({ 'mcp-param-method': 'GET', 'mcp-method': 'tools/call' });
  });

  const faults: readonly (readonly [string, JsonObject])[] = [
    ['is empty', tool('bad', { a: marked('') })],
    ['has a space', tool('bad', { a: marked('Two Words') })],
    ['has a colon', tool('bad', { a: marked('a:b') })],
    ['has other characters than ASCII', tool('bad', { a: marked('Größe') })],
    ['has a line break', tool('bad', { a: marked('a\r\nEvil') })],
    ['is no text', tool('bad', { a: marked(7) })],
    ['stands at a number', tool('bad', { a: marked('A', 'number') })],
    ['stands at an object', tool('bad', { a: marked('A', 'object') })],
    ['stands at an array', tool('bad', { a: marked('A', 'array') })],
    ['stands at null', tool('bad', { a: marked('A', 'null') })],
    ['is there twice, whatever the case', tool('bad', { a: marked('Same'), b: marked('sAME') })],
    ['stands at the whole schema', tool('bad', {}, { 'x-mcp-header': 'A' })],
    ['stands in a list', tool('bad', { a: { type: 'array', items: marked('A') } })],
    ['stands in an alternative', tool('bad', {}, { anyOf: [{ properties: { a: marked('A') } }] })],
    ['stands behind a condition', tool('bad', {}, { if: {}, then: { properties: { a: marked('A') } } })],
    ['stands in a definition', tool('bad', { a: { $ref: '#/$defs/x' } }, { $defs: { x: marked('A') } })],
    ['stands below an additional property', tool('bad', {}, { additionalProperties: marked('A') })],
  ];
  it.each(faults)('[HDR-019][TOOL-021] leaves out a tool whose mark %s, and keeps the others', async (_, bad) => {
    const good = tool('good', { a: marked('A') });
    const response = await list(bad, good, tool('plain', {}));
    expect('result' in response && (response.result['tools'] as JsonObject[]).map(({ name }) => name)).toEqual(['good', 'plain']);
    expect(await call('good', { a: 'x' })).toEqual({ 'mcp-param-a': 'x' });
    expect(await call('bad', { a: 'x', b: 'y' })).toEqual({});
  });

  it('[TOOL-022][HDR-019] reports the tool that was left out, with the reason', async () => {
    await list(tool('broken', { size: marked('Size', 'number') }));
    expect(errors).toEqual([expect.any(HttpClientError)]);
    expect(errors[0]).toMatchObject({
      code: 'ERR_TOOL_HEADER',
      message: expect.stringMatching(/"broken".*"size".*integer/),
    });
  });

  it('takes a property that is called like the mark for a property', async () => {
    await list(
      tool('t', {
        'x-mcp-header': { type: 'string' },
        a: { type: 'object', default: { 'x-mcp-header': '' }, enum: [{ 'x-mcp-header': 1 }] },
      }),
    );
    expect(errors).toEqual([]);
    expect(await call('t', { 'x-mcp-header': 'v' })).toEqual({});
  });

  it('finds a mark that is written with escapes', async () => {
    server.on('tools/list', (visit) => {
      const text = JSON.stringify({ jsonrpc: '2.0', id: visit.id, result: { tools: [tool('t', { a: marked('A') })] } });
      visit.reply(200, { 'content-type': 'application/json' }, text.replace('x-mcp-header', 'x-\\u006dcp-header'));
    });
    await transport.exchange(modernRequest('tools/list'));
    expect(await call('t', { a: 'x' })).toEqual({ 'mcp-param-a': 'x' });
  });

  it('[HDR-027] goes by the newest list, and sends no headers without any', async () => {
    expect(await call('t', { a: 'x', b: 'y' })).toEqual({});
    await list(tool('t', { a: marked('A') }));
    expect(await call('t', { a: 'x', b: 'y' })).toEqual({ 'mcp-param-a': 'x' });
    await list(tool('t', { b: marked('B') }));
    expect(await call('t', { a: 'x', b: 'y' })).toEqual({ 'mcp-param-b': 'y' });
    await list(tool('t', {}));
    expect(await call('t', { a: 'x', b: 'y' })).toEqual({});
  });

  describe('where the server misses headers', () => {
    /** A server that wants the header and has a list of two pages. */
    function demand(header: string): void {
      server.on('tools/list', (visit) => {
        const isFirst = (visit.message['params'] as JsonObject)['cursor'] === undefined;
        visit.result(isFirst ? { tools: [tool('other', {})], nextCursor: 'p2' } : { tools: [tool('t', { a: marked('A') })] });
      });
      server.on('tools/call', (visit) => (visit.headers[header] === undefined ? visit.error(-32020, 400) : visit.result(complete)));
    }

    it('[HDR-026][TOOL-024] reads the list, page by page, and makes the call once more with the headers', async () => {
      demand('mcp-param-a');
      const request = callRequest('t', { a: 'x', _meta: {} });
      const response = await transport.exchange(request);
      expect(response).toEqual({ jsonrpc: '2.0', id: request.id, result: complete });
      expect(server.visits.map(({ message }) => message['method'])).toEqual(['tools/call', 'tools/list', 'tools/list', 'tools/call']);
      expect(paramsOf(server.visits[3])).toEqual({ 'mcp-param-a': 'x' });
    });

    it('[HDR-026] makes the call no third time', async () => {
      demand('mcp-param-never');
      expect(await transport.exchange(callRequest('t', { a: 'x' }))).toMatchObject({ error: { code: -32020 } });
      expect(server.visits.filter(({ message }) => message['method'] === 'tools/call')).toHaveLength(2);
    });

    it('[HDR-026] makes the call no second time where the list says nothing new', async () => {
      demand('mcp-param-never');
      server.on('tools/list', (visit) => visit.result({ tools: [tool('t', {})] }));
      expect(await transport.exchange(callRequest('t', { a: 'x' }))).toMatchObject({ error: { code: -32020 } });
      expect(server.visits.map(({ message }) => message['method'])).toEqual(['tools/call', 'tools/list']);
    });

    it('gives the first answer back where the list cannot be read', async () => {
      demand('mcp-param-a');
      server.on('tools/list', (visit) => visit.reply(500));
      expect(await transport.exchange(callRequest('t', { a: 'x' }))).toMatchObject({ error: { code: -32020 } });
    });

    it('can be given up while the list is read', async () => {
      demand('mcp-param-a');
      const controller = new AbortController();
      server.on('tools/list', () => controller.abort(new Error('enough')));
      await expect(transport.exchange(callRequest('t', { a: 'x' }), { signal: controller.signal })).rejects.toThrow('enough');
    });
  });

  it('[HDR-014][TOOL-021] does all that for a client that knows nothing of it', async () => {
    const reported: Error[] = [];
    server.on('server/discover', (visit) => visit.result(discovery));
    server.on('tools/list', (visit) =>
      visit.result({ resultType: 'complete', tools: [tool('t', { a: marked('A') }), tool('bad', { a: marked('') })] }),
    );
    const source = httpTransport(server.url, options);
    const client = await McpClient.connect(
      source,
      { name: 'c', version: '1' },
      { eraMemory: new Map(), onError: (error) => void reported.push(error) },
    );
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['t']);
    await client.callTool('t', { a: 'é' });
    expect(paramsOf(server.visits.at(-1))).toEqual({ 'mcp-param-a': '=?base64?w6k=?=' });
    expect(reported).toEqual([expect.any(HttpClientError)]);
    await client.close();
  });
});
