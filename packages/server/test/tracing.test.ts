import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { BasicTracerProvider, InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { createOpenTelemetryTracer } from '@mortise/protocol/opentelemetry';
import { McpServer, ToolError } from '@mortise/server';
import { ALL, type Loose, MODERN, RawPeer, type Version } from './raw-peer.ts';
import { answerTo, form } from './asks/chain.ts';

const exporter = new InMemorySpanExporter();
trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
beforeEach(() => exporter.reset());
afterAll(() => {
  trace.disable();
  context.disable();
});

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = '00f067aa0ba902b7';
const _meta = { traceparent: `00-${TRACE}-${PARENT}-01` };

async function open(version: Version): Promise<RawPeer> {
  const server = new McpServer({ name: 'm', version: '1' }, { tracer: createOpenTelemetryTracer() });
  server.registerTool('plain', {}, async () => {
    await Promise.resolve();
    trace.getTracer('own').startSpan('database').end();
    return 'x';
  });
  server.registerTool('bug', {}, () => {
    throw new RangeError('too far');
  });
  server.registerTool('no', {}, () => {
    throw new ToolError('No');
  });
  server.registerTool('ask', {}, async (ctx) => (await ctx.elicit(form('Name?'))).action);
  server.registerResource('r', 'x://y', {}, () => 'x');
  const peer = await RawPeer.open(server, version, { capabilities: { elicitation: { form: {} } } });
  exporter.reset();
  return peer;
}

const named = (name: string): ReadableSpan[] => exporter.getFinishedSpans().filter((span) => span.name === name);
const idOf = (span: ReadableSpan | undefined): string | undefined => span?.spanContext().spanId;

describe.each(ALL)('a tracer in %s', (version) => {
  it('[META-020] opens a span a request in the trace of its _meta, current while the handler runs', async () => {
    const peer = await open(version);
    await peer.request('tools/call', { name: 'plain', _meta });
    const [request] = named('tools/call plain');
    expect(request?.spanContext().traceId).toBe(TRACE);
    expect(request?.parentSpanContext?.spanId).toBe(PARENT);
    expect(request?.attributes).toMatchObject({
      'rpc.system': 'jsonrpc',
      'mcp.method.name': 'tools/call',
      'mcp.protocol.version': version,
      'gen_ai.tool.name': 'plain',
    });
    expect(named('database')[0]?.parentSpanContext?.spanId).toBe(idOf(request));
    await peer.request('resources/read', { uri: 'x://y' });
    expect(named('resources/read x://y')[0]?.attributes).toMatchObject({ 'mcp.resource.uri': 'x://y' });
    expect(named('resources/read x://y')[0]?.spanContext().traceId).not.toBe(TRACE);
    await peer.close();
  });

  it('marks what failed: by its error for the operator, by its kind for the model, by its code for the peer', async () => {
    const peer = await open(version);
    await peer.callTool('bug');
    await peer.callTool('no');
    await peer.request('tools/call', { name: 'none' });
    expect(named('tools/call bug')[0]?.events[0]?.attributes).toMatchObject({ 'exception.message': 'too far' });
    expect(named('tools/call no')[0]?.attributes).toMatchObject({ 'error.type': 'tool_error' });
    expect(named('tools/call none')[0]?.attributes).toMatchObject({ 'rpc.response.status_code': '-32602' });
    expect(named('tools/call plain')).toEqual([]);
    await peer.close();
  });
});

describe('an ask', () => {
  it.each(['2025-06-18', '2025-11-25'] as const)('is a child of its call, and tells the client so, in %s', async (version) => {
    const peer = await open(version);
    let told: Loose;
    peer.onRequest = ({ params }) => {
      told = (params as Loose)._meta;
      return { action: 'decline' };
    };
    await peer.request('tools/call', { name: 'ask', _meta });
    const [ask] = named('elicitation/create');
    expect(ask?.parentSpanContext?.spanId).toBe(idOf(named('tools/call ask')[0]));
    expect(told.traceparent).toBe(`00-${TRACE}-${String(idOf(ask))}-01`);
    await peer.close();
  });

  it(`is told with the result that asks, and changes nothing of the question, in ${MODERN}`, async () => {
    const peer = await open(MODERN);
    const first = await peer.request('tools/call', { name: 'ask', _meta });
    const [question] = Object.values<Loose>(first.result.inputRequests);
    const [ask] = named('elicitation/create');
    expect(question.params._meta.traceparent).toBe(`00-${TRACE}-${String(idOf(ask))}-01`);
    expect(named('tools/call ask')[0]?.attributes).toMatchObject({ 'mcp.result.type': 'input_required' });
    const second = await peer.request('tools/call', { name: 'ask', _meta, ...answerTo(first.result) });
    expect(second.result.content[0].text).toBe('accept');
    expect(named('tools/call ask')).toHaveLength(2);
    await peer.close();
  });
});
