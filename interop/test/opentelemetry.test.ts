/** One trace over client and server, with the real SDK of OpenTelemetry: each span is the child of the one that caused it. */

import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { BasicTracerProvider, InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { connectInMemory } from '@mortise/client/in-memory';
import { createOpenTelemetryTracer } from '@mortise/protocol/opentelemetry';
import { REVISIONS, type Revision } from '@mortise/protocol';
import { McpServer } from '@mortise/server';

const exporter = new InMemorySpanExporter();
trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
beforeEach(() => exporter.reset());
afterAll(() => {
  trace.disable();
  context.disable();
});

const CLIENT = 2;
const SERVER = 1;
const find = (name: string, kind: number): ReadableSpan[] =>
  exporter.getFinishedSpans().filter((span) => span.name === name && span.kind === kind);
const idOf = (span: ReadableSpan | undefined): string | undefined => span?.spanContext().spanId;
const parentOf = (span: ReadableSpan | undefined): string | undefined => span?.parentSpanContext?.spanId;

function serve(): McpServer {
  const server = new McpServer({ name: 'm', version: '1' }, { tracer: createOpenTelemetryTracer() });
  server.registerTool('plain', {}, async () => {
    await Promise.resolve();
    trace.getTracer('own').startSpan('database').end();
    return 'x';
  });
  server.registerTool('ask', {}, async (ctx) => {
    const answer = await ctx.elicit({ message: 'Sure?', requestedSchema: { type: 'object', properties: { yes: { type: 'boolean' } } } });
    return answer.action;
  });
  return server;
}

describe.each(REVISIONS.map((revision) => [revision.version, revision] as const))('a trace in %s', (_version, revision: Revision) => {
  it('[META-020][XMETA-006] goes from the program through the client to the handler of the server', async () => {
    const client = await connectInMemory(serve(), {
      revisions: [revision],
      via: 'json',
      tracer: createOpenTelemetryTracer(),
    });
    exporter.reset();
    await trace.getTracer('program').startActiveSpan('program', async (span) => {
      await client.callTool('plain');
      span.end();
    });
    const [program] = exporter.getFinishedSpans().filter(({ name }) => name === 'program');
    const [[sent], [served]] = [find('tools/call plain', CLIENT), find('tools/call plain', SERVER)];
    const [database] = exporter.getFinishedSpans().filter(({ name }) => name === 'database');
    expect([parentOf(sent), parentOf(served), parentOf(database)]).toEqual([idOf(program), idOf(sent), idOf(served)]);
    expect(new Set([program, sent, served, database].map((span) => span?.spanContext().traceId)).size).toBe(1);
    await client.close();
  });

  it.skipIf(revision.rules.elicitation === 'none')('goes back to the client with a question', async () => {
    const client = await connectInMemory(serve(), {
      revisions: [revision],
      tracer: createOpenTelemetryTracer(),
      elicitation: () => ({ action: 'decline' }),
    });
    exporter.reset();
    expect((await client.callTool('ask')).content).toEqual([{ type: 'text', text: 'decline' }]);
    const [asked] = find('elicitation/create', CLIENT);
    const [answered] = find('elicitation/create', SERVER);
    expect(find('tools/call ask', SERVER).map(idOf)).toContain(parentOf(asked));
    expect(parentOf(answered)).toBe(idOf(asked));
    expect(new Set(exporter.getFinishedSpans().map((span) => span.spanContext().traceId)).size).toBe(1);
    await client.close();
  });
});
