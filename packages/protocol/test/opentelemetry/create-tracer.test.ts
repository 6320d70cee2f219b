import { context, propagation, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { createOpenTelemetryTracer } from '@mortise/protocol/opentelemetry';
import { readTraceContext, writeTraceContext } from '../../src/opentelemetry/trace-context.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = '00f067aa0ba902b7';
const exporter = new InMemorySpanExporter();
trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
beforeEach(() => exporter.reset());
afterAll(() => trace.disable());

const read = (meta: Record<string, string | number>): ReturnType<typeof trace.getSpanContext> =>
  trace.getSpanContext(readTraceContext(ROOT_CONTEXT, meta));

describe('createOpenTelemetryTracer', () => {
  it('[META-020][XMETA-006] goes on with a peer’s trace, and tells its own in the formats of W3C', () => {
    const tracer = createOpenTelemetryTracer();
    const span = tracer.startSpan('tools/call add', 'server', {
      traceparent: `00-${TRACE}-${PARENT}-01`,
      tracestate: 'acme=1,other=x',
      baggage: 'user=ann%20b;p=1,tenant=7',
    });
    const told = span.inject();
    span.setAttribute('a', 1);
    span.end();
    const [finished] = exporter.getFinishedSpans();
    expect(finished?.spanContext().traceId).toBe(TRACE);
    expect(finished?.parentSpanContext).toMatchObject({ spanId: PARENT, isRemote: true });
    expect(told).toEqual({
      traceparent: `00-${TRACE}-${String(finished?.spanContext().spanId)}-01`,
      tracestate: 'acme=1,other=x',
      baggage: 'user=ann%20b;p=1,tenant=7',
    });
    expect(finished?.attributes).toMatchObject({ a: 1 });
  });

  it('marks a span whose error was recorded, of whatever kind', () => {
    const tracer = createOpenTelemetryTracer();
    for (const error of [new TypeError('no'), 'text', undefined]) {
      const span = tracer.startSpan('x', 'client');
      span.recordError(error);
      span.end();
    }
    expect(exporter.getFinishedSpans().map(({ status, attributes }) => [status.code, attributes['error.type']])).toEqual([
      [2, 'TypeError'],
      [2, 'string'],
      [2, 'undefined'],
    ]);
  });

  it('runs a function anyway with a span that another tracer made', () => {
    const tracer = createOpenTelemetryTracer();
    const stranger = { setAttribute() {}, recordError() {}, end() {}, inject: () => ({}) };
    expect(tracer.run(stranger, () => 3)).toBe(3);
  });
});

describe('trace context in _meta', () => {
  const bad = [
    '',
    'x',
    `00-${TRACE}-${PARENT}`,
    `00-${TRACE.toUpperCase()}-${PARENT}-01`,
    `00-${'0'.repeat(32)}-${PARENT}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `ff-${TRACE}-${PARENT}-01`,
    `00-${TRACE}-${PARENT}-01-more`,
    `00-${TRACE}-${PARENT}-01`.padEnd(600, '-'),
    7,
  ];
  it.each(bad)('leaves out a malformed parent: %j', (traceparent) => {
    expect(read({ traceparent, tracestate: 'a=1' })).toBeUndefined();
  });

  it('takes a parent of a later version, whatever follows', () => {
    expect(read({ traceparent: `01-${TRACE}-${PARENT}-00-more` })).toMatchObject({ traceId: TRACE, traceFlags: 0 });
  });

  it('leaves out what is malformed of a baggage and keeps the rest, in bounds', () => {
    const around = readTraceContext(ROOT_CONTEXT, { baggage: `a=1,=2,b c=3,d=%E0%A4%A,${'e=1,'.repeat(70)}f=6` });
    expect(
      propagation
        .getBaggage(around)
        ?.getAllEntries()
        .map(([key]) => key),
    ).toEqual(['a', 'e']);
    expect(propagation.getBaggage(readTraceContext(ROOT_CONTEXT, { baggage: 'a=1,'.repeat(3_000) }))).toBeUndefined();
  });

  it('says nothing where there is no trace', () => {
    expect(writeTraceContext(context.active())).toEqual({});
  });

  it('writes no more baggage than W3C allows, and no key that is none', () => {
    const entries = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`k${i}`, { value: 'v'.repeat(200) }]));
    const around = propagation.setBaggage(ROOT_CONTEXT, propagation.createBaggage({ 'a b': { value: '1' }, ...entries }));
    const text = String(writeTraceContext(around)['baggage']);
    expect(text.length).toBeLessThanOrEqual(8_192);
    expect(text).toMatch(/^k0=v/);
  });
});
