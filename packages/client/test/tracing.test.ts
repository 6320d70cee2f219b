/** Spans around requests and answers, joined to the server's by `_meta`. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { NEWEST, REVISIONS } from '@mortise/protocol';
import type { Span, Tracer } from '@mortise/protocol/contracts';
import { afterEach, describe, expect, it } from 'vitest';
import { McpClient } from '../src/index.ts';
import { complete, info, legacyScript, ScriptedServer, scriptOf } from './scripted-server.ts';

const open: McpClient[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

interface Told {
  readonly name: string;
  readonly kind: string;
  readonly parent: JsonObject | undefined;
  readonly attributes: Record<string, unknown>;
  errors: unknown[];
  ends: number;
}

function createTracer(): Tracer & { readonly spans: Told[]; current: number } {
  const spans: Told[] = [];
  const numbers = new Map<Span, number>();
  return {
    spans,
    current: 0,
    startSpan(name, kind, parent) {
      const told: Told = { name, kind, parent, attributes: {}, errors: [], ends: 0 };
      const number = spans.push(told);
      const span: Span = {
        setAttribute: (key, value) => void (told.attributes[key] = value),
        recordError: (error) => void told.errors.push(error),
        end: () => void (told.ends += 1),
        inject: () => ({ traceparent: `00-trace-${number}`, tracestate: 'a=b' }),
      };
      numbers.set(span, number);
      return span;
    },
    run(span, fn) {
      this.current = numbers.get(span) ?? 0;
      return fn();
    },
  };
}

describe.each(REVISIONS)('a tracer in $version', (revision) => {
  it('is told of each request, and the server of its context, beside what the caller and the era put in _meta', async () => {
    const tracer = createTracer();
    const server = new ScriptedServer(scriptOf(revision, { 'tools/call': () => complete(revision, { content: [] }) }));
    const client = await McpClient.connect(server.factory, info, { protocolVersion: revision.version, tracer });
    open.push(client);
    await client.callTool('add', {}, { meta: { 'x.example/y': 1 } });
    await client.callTool('add', {}, { meta: { traceparent: 'mine' } });
    const [first, second] = server.requests('tools/call').map(({ params }) => params?.['_meta'] as JsonObject);
    expect(first).toMatchObject({ traceparent: '00-trace-1', tracestate: 'a=b', 'x.example/y': 1 });
    expect(second).toMatchObject({ traceparent: 'mine' });
    expect(tracer.spans[0]).toMatchObject({
      name: 'tools/call add',
      kind: 'client',
      ends: 1,
      errors: [],
      attributes: { 'mcp.method.name': 'tools/call', 'mcp.protocol.version': revision.version, 'gen_ai.tool.name': 'add' },
    });
  });

  it('is told of requests that fail, once', async () => {
    const tracer = createTracer();
    const server = new ScriptedServer(scriptOf(revision, { 'tools/call': () => ({ error: { code: -32602, message: 'no' } }) }));
    const client = await McpClient.connect(server.factory, info, { protocolVersion: revision.version, tracer });
    open.push(client);
    await expect(client.callTool('add')).rejects.toMatchObject({ rpcCode: -32602 });
    expect(tracer.spans).toMatchObject([{ errors: [{ rpcCode: -32602 }], ends: 1 }]);
  });
});

it('a span around an answer continues the trace of the server that asked', async () => {
  const tracer = createTracer();
  const server = new ScriptedServer(legacyScript('2025-11-25'));
  const seen: number[] = [];
  const client = await McpClient.connect(server.factory, info, {
    era: 'legacy',
    tracer,
    roots: () => {
      seen.push(tracer.current);
      return [];
    },
  });
  open.push(client);
  await server.send({ jsonrpc: '2.0', id: 'q', method: 'roots/list', params: { _meta: { traceparent: 'theirs' } } });
  await server.next((message) => 'id' in message && message.id === 'q' && 'result' in message);
  expect(tracer.spans).toMatchObject([{ name: 'roots/list', kind: 'server', parent: { traceparent: 'theirs' }, ends: 1 }]);
  expect(seen).toEqual([1]);
});

it('a span around an answer to a result that asks continues the trace of the server that asked', async () => {
  const tracer = createTracer();
  const question = { method: 'roots/list', params: { _meta: { traceparent: 'theirs' } } };
  const server = new ScriptedServer(
    scriptOf(NEWEST, {
      'tools/call': ({ params }) =>
        params?.['inputResponses'] === undefined
          ? { result: { resultType: 'input_required', inputRequests: { q: question } } }
          : complete(NEWEST, { content: [] }),
    }),
  );
  const client = await McpClient.connect(server.factory, info, { tracer, roots: [] });
  open.push(client);
  await client.callTool('x');
  expect(tracer.spans).toMatchObject([
    { name: 'tools/call x', kind: 'client', ends: 1 },
    { name: 'roots/list', kind: 'server', parent: { traceparent: 'theirs' }, ends: 1 },
  ]);
});

it('no tracer means no trace context', async () => {
  const server = new ScriptedServer(scriptOf(NEWEST, { 'tools/call': () => complete(NEWEST, { content: [] }) }));
  const client = await McpClient.connect(server.factory, info);
  open.push(client);
  await client.callTool('add');
  expect(Object.keys(server.requests('tools/call')[0]?.params?.['_meta'] ?? {})).not.toContain('traceparent');
});
