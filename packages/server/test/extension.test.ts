import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ProtocolError, type JsonObject } from '@mortise/jsonrpc-core';
import type { BusMessage, ExtensionHost, HandlerRun, ServerExtension } from '@mortise/protocol/contracts';
import { McpServer, RegistrationError } from '@mortise/server';
import { type Loose, MODERN, RawPeer } from './raw-peer.ts';
import {} from './support.ts';

function createServer(extension: Partial<ServerExtension> & Pick<ServerExtension, 'install'>): McpServer {
  return new McpServer({ name: 's', version: '1' }, { extensions: [{ id: 'com.example/jobs', ...extension }] });
}

const fakeRun = (changes: Partial<HandlerRun> = {}): HandlerRun => ({
  signal: new AbortController().signal,
  ask: () => Promise.reject(new Error('no asks')),
  once: async (key, fn) => fn(key),
  report: () => Promise.resolve(),
  ...changes,
});

describe('an extension', () => {
  it('adds methods to the eras that it names, with who asks', async () => {
    const server = createServer({
      install(host) {
        host.addMethod('jobs/get', { eras: ['modern'], nameParam: 'jobId' }, (params, call) => ({
          job: params['jobId'] ?? null,
          principal: call.principal,
        }));
        host.addMethod('jobs/old', { eras: ['legacy'] }, () => ({ old: true }));
        host.addMethod('tasks/get', { eras: ['legacy', 'modern'] }, (_params, call) => ({ era: call.revision.era }));
        host.addMethod('jobs/fail', { eras: ['modern'] }, () => {
          throw new ProtocolError(77, 'no job');
        });
      },
    });
    const [modern, old] = [await RawPeer.open(server, MODERN), await RawPeer.open(server, '2025-11-25')];
    expect(await modern.call('jobs/get', { jobId: 'j1' })).toMatchObject({
      resultType: 'complete',
      job: 'j1',
      principal: 'local',
    });
    expect((await modern.request('jobs/fail')).error).toEqual({ code: 77, message: 'no job' });
    expect(await old.call('jobs/old')).toEqual({ old: true });
    expect((await modern.request('jobs/old')).error?.code).toBe(-32601);
    expect((await old.request('jobs/get')).error?.code).toBe(-32601);
    expect((await modern.call('tasks/get')).era).toBe('modern');
    expect((await old.call('tasks/get', { taskId: 't' })).era).toBe('legacy');
    expect(server.nameParam('jobs/get')).toBe('jobId');
  });

  it('stands in front of a method, the first added outermost', async () => {
    const order: string[] = [];
    const server = createServer({
      install(host) {
        for (const name of ['first', 'second']) {
          host.intercept('tools/call', async (params, _call, next) => {
            order.push(`${name} ${String(params['name'])}`);
            return next();
          });
        }
      },
    });
    server.use(async (call, next) => {
      if (call.method === 'tools/call') order.push('middleware');
      return next();
    });
    server.registerTool('t', {}, () => 't');
    const peer = await RawPeer.open(server, MODERN);
    await peer.callTool('t');
    expect(order).toEqual(['middleware', 'first t', 'second t']);
  });

  it.each([MODERN, '2025-11-25'] as const)('answers in %s with a result of its own, which is left as it is', async (version) => {
    const server = createServer({
      answers: ['tools/call'],
      resultTypes: ['job'],
      install: (host) =>
        host.intercept('tools/call', () =>
          Promise.resolve(version === MODERN ? { resultType: 'job', jobId: '1', structuredContent: [1] } : { job: { id: '1' } }),
        ),
    });
    server.registerTool('t', {}, () => 't');
    const peer = await RawPeer.open(server, version);
    const result = await peer.callTool('t');
    if (version === MODERN) expect(result).toMatchObject({ resultType: 'job', jobId: '1', structuredContent: [1] });
    else expect(result).toEqual({ job: { id: '1' } });
  });

  it('owns options of tools, what they show, and members of ctx', async () => {
    let host: ExtensionHost | undefined;
    const server = createServer({
      toolOptions: ['queue'],
      toolDefinition: (options, revision) =>
        options['queue'] ? { 'com.example/queue': options['queue'] as string, era: revision.era } : {},
      context: ({ run }) => ({ jobs: { signalled: run.signal.aborted } }),
      install(given) {
        host = given;
      },
    });
    const config = { queue: 'fast', visible: ({ principal }: { principal: string }) => principal === 'ann' };
    server.registerTool('t', config, (ctx) => JSON.stringify((ctx as Loose).jobs));
    server.registerTool('plain', {}, () => 'plain');
    expect(() => server.registerTool('bad', { queues: 'typo' } as Loose, () => 'x')).toThrow(RegistrationError);
    const peer = await RawPeer.open(server, MODERN, { info: { principal: 'ann' } });
    const { tools } = await peer.call('tools/list');
    expect(tools[0]).toMatchObject({ name: 't', 'com.example/queue': 'fast', era: 'modern' });
    expect(tools[1]).not.toHaveProperty('com.example/queue');
    expect((await peer.callTool('t')).content[0].text).toBe('{"signalled":false}');
    expect(host?.toolOptions('t', 'ann')?.['queue']).toBe('fast');
    expect(host?.toolOptions('t', 'eve')).toBeUndefined();
  });

  it('adds keys to the listen filter, and turns events into notifications for those who may see them', async () => {
    let host: ExtensionHost | undefined;
    const server = createServer({
      install(given) {
        host = given;
        host.addFilter({
          key: 'jobIds',
          accept: async (wish, call, { send, ended }) => {
            if (!Array.isArray(wish)) throw new ProtocolError(-32602, 'jobIds must be a list');
            const known = wish.filter((id) => id !== 'unknown');
            for (const id of known) {
              send('notifications/jobs', { id, isFirst: true });
              const onEvent = ({ principal, payload }: BusMessage): void =>
                principal === call.principal ? send('notifications/jobs', payload as JsonObject) : undefined;
              const stop = await given.subscribe(`job:${id}`, onEvent, () => undefined);
              ended.addEventListener('abort', stop);
            }
            return known.length > 0 ? known : undefined;
          },
        });
        expect(() => host?.addFilter({ key: 'jobIds', accept: () => undefined })).toThrow(RegistrationError);
      },
    });
    const peer = await RawPeer.open(server, MODERN, { info: { principal: 'ann' } });
    const other = await RawPeer.open(server, MODERN, { info: { principal: 'bob' } });
    for (const each of [peer, other]) void each.request('subscriptions/listen', { notifications: { jobIds: ['j1', 'unknown'] } }, 'sub');
    expect((await peer.nextNotification('notifications/subscriptions/acknowledged')).params.notifications).toEqual({ jobIds: ['j1'] });
    await other.nextNotification('notifications/subscriptions/acknowledged');
    for (const each of [peer, other]) expect((await each.nextNotification('notifications/jobs')).params).toMatchObject({ isFirst: true });
    await host?.publish({ topic: 'job:j2', payload: { id: 'j2' } });
    await host?.publish({ topic: 'job:j1', principal: 'ann', payload: { id: 'j1' } });
    const told = await peer.nextNotification('notifications/jobs');
    expect(told.params).toEqual({ id: 'j1', _meta: { 'io.modelcontextprotocol/subscriptionId': 'sub' } });
    await other.settle();
    expect(other.notifications('notifications/jobs')).toHaveLength(1);
    expect((await peer.request('subscriptions/listen', { notifications: { jobIds: 5 } })).error?.code).toBe(-32602);
  });

  it('runs a tool from its record, with the asks, steps and reports of its own run', async () => {
    let host: ExtensionHost | undefined;
    const server = createServer({
      install(given) {
        host = given;
      },
    });
    server.registerTool('t', { inputSchema: { n: z.number() }, visible: ({ principal }) => principal === 'ann' }, async ({ n }, ctx) => {
      await ctx.progress(1, 2);
      const step = await ctx.once('s', (key) => `step ${key}`);
      const answer = await ctx.elicit({ message: 'm', requestedSchema: { ok: z.boolean() } });
      return `${n} ${step} ${answer.action} ${ctx.principal} ${ctx.requestId ?? 'none'}`;
    });
    server.registerTool('fails', {}, () => {
      throw new Error('sorry');
    });
    const reports: Loose[] = [];
    const record = {
      tool: 't',
      arguments: { n: 5 },
      principal: 'ann',
      revision: MODERN,
      clientCapabilities: { elicitation: {} },
      scopes: [],
      meta: { progressToken: 'p' },
    };
    const run = fakeRun({
      ask: async (ask) => (ask.method === 'elicitation/create' ? { action: 'decline' } : {}),
      report: async (notification) => void reports.push(notification),
    });
    expect(await host?.runTool(record, run)).toEqual({ content: [{ type: 'text', text: '5 step s decline ann none' }] });
    expect(reports).toMatchObject([{ method: 'notifications/progress', params: { progressToken: 'p', progress: 1, total: 2 } }]);
    expect(await host?.runTool({ ...record, arguments: { n: 'x' } }, run)).toMatchObject({ isError: true });
    expect(await host?.runTool({ ...record, tool: 'fails', arguments: {} }, run)).toMatchObject({
      isError: true,
      content: [{ text: 'sorry' }],
    });
    await expect(host?.runTool({ ...record, clientCapabilities: {} }, run)).rejects.toMatchObject({ rpcCode: -32021 });
    // Who may call it was settled when the record was made.
    expect(await host?.runTool({ ...record, principal: 'eve' }, run)).toEqual({
      content: [{ type: 'text', text: '5 step s decline eve none' }],
    });
    await expect(host?.runTool({ ...record, revision: '1999' }, run)).rejects.toMatchObject({ rpcCode: -32602 });
  });

  it('is told when the server closes, which waits for it', async () => {
    const order: string[] = [];
    const server = createServer({
      install(host) {
        host.onClose(async () => {
          await Promise.resolve();
          order.push('extension');
        });
      },
    });
    await server.close();
    order.push('closed');
    expect(order).toEqual(['extension', 'closed']);
  });
});
