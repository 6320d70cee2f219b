/** Two machines as programs, which send traces and metrics to a collector. */

import { type ChildProcess, fork, type ForkOptions } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { context, metrics, trace } from '@opentelemetry/api';
import { McpClient } from '@mortise/client';
import { taskClient } from '@mortise/tasks/client';
import { httpTransport } from '@mortise/transport-http/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Engine } from '../src/engine.ts';
import { Balancer } from '../src/proxy.ts';
import { startTelemetry } from '../src/telemetry.ts';
import { hasRedis } from './has-redis.ts';

/** What a collector gets by OTLP, as far as the test reads it. */
interface Scope<T extends string, Item> {
  readonly resource: { readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[] };
  readonly scopeSpans: T extends 'spans' ? readonly { readonly spans: readonly Item[] }[] : undefined;
  readonly scopeMetrics: T extends 'metrics' ? readonly { readonly metrics: readonly Item[] }[] : undefined;
}
interface Span {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
}
interface Export {
  readonly resourceSpans?: readonly Scope<'spans', Span>[];
  readonly resourceMetrics?: readonly Scope<'metrics', { readonly name: string }>[];
}

/** Listens for OTLP, and keeps the spans and the names of metrics, each with the process that sent it. */
async function openCollector() {
  const spans: (Span & { readonly service: string; readonly instance: string })[] = [];
  const values: { readonly name: string; readonly instance: string }[] = [];
  const attribute = ({ resource }: Scope<string, unknown>, name: string): string =>
    resource.attributes.find(({ key }) => key === name)?.value.stringValue ?? '';
  const server = createServer(async (request, response) => {
    const { resourceSpans = [], resourceMetrics = [] } = (await json(request)) as Export;
    for (const each of resourceSpans) {
      const from = { service: attribute(each, 'service.name'), instance: attribute(each, 'service.instance.id') };
      for (const scope of each.scopeSpans) spans.push(...scope.spans.map((span) => ({ ...span, ...from })));
    }
    for (const each of resourceMetrics)
      for (const scope of each.scopeMetrics)
        values.push(...scope.metrics.map(({ name }) => ({ name, instance: attribute(each, 'service.instance.id') })));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans, values };
}

async function startMachine(engine: string, collector: string): Promise<{ readonly child: ChildProcess; readonly port: number }> {
  const file = fileURLToPath(new URL('../dist/server.js', import.meta.url));
  // Without the conditions by which a test finds the sources.
  const options = { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] } satisfies ForkOptions;
  const child = fork(file, ['--engine', engine, '--port', '0', '--telemetry', collector], options);
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('the machine ended')));
  const [{ port }] = (await Promise.race([once(child, 'message'), ended])) as [{ readonly port: number }];
  ended.catch(() => undefined);
  return { child, port };
}

describe.skipIf(!hasRedis)('two machines with --telemetry', () => {
  it('show a call whose question was answered at the other machine as one trace, and report their metrics', async () => {
    const engine = new Engine('redis');
    onTestFinished(() => engine.close());
    await engine.open();
    const collector = await openCollector();
    const machines = [await startMachine(engine.url, collector.url), await startMachine(engine.url, collector.url)];
    const balancer = new Balancer();
    onTestFinished(() => balancer.close());
    balancer.targets = machines;
    const telemetry = startTelemetry(collector.url, 'client');
    onTestFinished(() => [trace, context, metrics].forEach((each) => each.disable()));

    const tasks = taskClient();
    const client = await McpClient.connect(
      httpTransport(await balancer.listen()),
      { name: 'test', version: '1.0.0' },
      {
        era: 'modern',
        tracer: telemetry.tracer,
        extensions: [tasks],
        elicitation: () => ({ action: 'accept', content: { text: 'yes' } }),
      },
    );
    expect(await client.callTool('ask', { question: 'Go on?' })).toMatchObject({ content: [{ text: 'yes' }] });
    await (await tasks.start('work', { key: 'k' })).result();
    await client.close();
    for (const { child } of machines) {
      child.kill('SIGTERM');
      expect(await once(child, 'exit')).toEqual([0, null]);
    }
    await telemetry.close();

    const [call, ...others] = collector.spans.filter(({ service, name }) => service === 'client' && name === 'tools/call ask');
    expect(others).toEqual([]);
    const rounds = collector.spans.filter(({ service, name }) => service === 'many-machines' && name === 'tools/call ask');
    const joined = { traceId: call?.traceId, parentSpanId: call?.spanId };
    expect(rounds).toEqual([expect.objectContaining(joined), expect.objectContaining(joined)]);
    expect(new Set(rounds.map(({ instance }) => instance)).size).toBe(2);
    const open = ['sessions', 'streams', 'calls'].map((name) => `many_machines.open_${name}`);
    for (const { instance } of rounds) {
      const names = collector.values.filter((value) => value.instance === instance).map(({ name }) => name);
      expect(names).toEqual(expect.arrayContaining(['mcp.server.operation.duration', ...open]));
    }
    expect(collector.values.map(({ name }) => name)).toContain('mcp.tasks.created');
  });
});
