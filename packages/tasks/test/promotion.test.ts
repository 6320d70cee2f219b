import { describe, expect, it, vi } from 'vitest';
import { McpServer, type McpServerOptions } from '@mortise/server';
import { MemoryTaskStore } from '@mortise/tasks';
import { createTasks, type TasksOptions } from '@mortise/tasks/server';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { z } from 'zod';
import { CORE, MODERN, RawPeer, turn } from './support/raw-peer.ts';
import { createGate, type Gate } from './support/task-server.ts';

const modern = { version: MODERN };
const PROMOTE_MS = 5;

interface Slow {
  readonly server: McpServer;
  readonly store: MemoryTaskStore;
  readonly gate: Gate;
  readonly steps: string[];
  readonly signals: AbortSignal[];
}

function createSlowServer(options: TasksOptions = {}, more: McpServerOptions = {}): Slow {
  const { clock } = options;
  const store = new MemoryTaskStore(clock && { now: () => clock.now() });
  const server = new McpServer(
    { name: 's', version: '1' },
    { ...more, extensions: [createTasks({ store, maxPollsPerSecond: Infinity, ...options })] },
  );
  const gate = createGate();
  const steps: string[] = [];
  const signals: AbortSignal[] = [];
  const step = (name: string) => () => {
    steps.push(name);
    return name;
  };
  const config = { execution: { taskSupport: 'optional' }, promoteAfterMs: PROMOTE_MS } as const;
  server.registerTool('fast', { ...config, promoteAfterMs: 60_000 }, () => 'fast');
  server.registerTool('slow', { ...config, resumable: true }, async (ctx) => {
    signals.push(ctx.signal);
    const first = await ctx.once('first', step('first'));
    await Promise.race([gate.opened, new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))]);
    await ctx.status('second half');
    const second = await ctx.once('second', step('second'));
    return `${first} ${second} ${await ctx.once('first', step('first'))} ${ctx.isTask}`;
  });
  server.registerTool('asks-later', config, async (ctx) => {
    await gate.opened;
    const { content } = await ctx.elicit({ message: 'Who?', requestedSchema: { name: z.string() } });
    return `hello ${content?.name}`;
  });
  server.registerTool('asks-first', config, async (ctx) => {
    const { content } = await ctx.elicit({ message: 'Who?', requestedSchema: { name: z.string() } });
    await gate.opened;
    return `hello ${content?.name}`;
  });
  server.registerTool('breaks-later', config, async () => {
    await gate.opened;
    throw new Error('too late');
  });
  return { server, store, gate, steps, signals };
}

const ended = ({ status }: { status: string }): boolean => !['working', 'input_required'].includes(status);

describe('a call that may be promoted', () => {
  it('is an ordinary one when it is quick, and leaves no task', async () => {
    const { server, store } = createSlowServer();
    const peer = await RawPeer.open(server, modern);
    expect(await peer.call('tools/call', { name: 'fast' })).toMatchObject({ resultType: 'complete', content: [{ text: 'fast' }] });
    expect((await store.list('local', { limit: 10 })).tasks).toEqual([]);
  });

  it('becomes a task when it is slow: its handler goes on, with the steps that it had and its own status', async () => {
    const { server, store, gate, steps } = createSlowServer();
    const kept = vi.spyOn(store, 'putStep');
    const peer = await RawPeer.open(server, modern);
    const { resultType, taskId } = await peer.start('slow');
    expect(resultType).toBe('task');
    expect(await store.get(taskId)).toMatchObject({ resumable: true, owner: expect.any(String) });
    expect(await store.getStep(taskId, 'first')).toEqual({ value: ['first'] });
    gate.open();
    const task = await peer.until(taskId, ended);
    expect(task).toMatchObject({
      status: 'completed',
      statusMessage: 'second half',
      result: { content: [{ text: 'first second first true' }] },
    });
    expect(steps).toEqual(['first', 'second']);
    expect(kept).toHaveBeenCalledWith(taskId, 'second', ['second']);
    expect(await store.getStep(taskId, 'second')).toBeUndefined();
  });

  it('asks by its task once it is one', async () => {
    const { server, gate } = createSlowServer();
    const peer = await RawPeer.open(server, modern);
    const { taskId } = await peer.start('asks-later');
    gate.open();
    const { inputRequests } = await peer.until(taskId, ({ status }) => status === 'input_required');
    const [key = ''] = Object.keys(inputRequests);
    await peer.call('tasks/update', { taskId, inputResponses: { [key]: { action: 'accept', content: { name: 'Ann' } } } });
    expect((await peer.until(taskId, ended)).result.content).toMatchObject([{ text: 'hello Ann' }]);
  });

  it('[TASKX-011] asks by its answer as long as it is none, and becomes one in the round after', async () => {
    const { server, gate } = createSlowServer();
    const peer = await RawPeer.open(server, modern);
    const asked = await peer.call('tools/call', { name: 'asks-first', arguments: {} });
    expect(asked.resultType).toBe('input_required');
    const [key = ''] = Object.keys(asked.inputRequests);
    const answered = { requestState: asked.requestState, inputResponses: { [key]: { action: 'accept', content: { name: 'Ann' } } } };
    const { resultType, taskId } = await peer.call('tools/call', { name: 'asks-first', arguments: {}, ...answered });
    expect(resultType).toBe('task');
    gate.open();
    expect((await peer.until(taskId, ended)).result.content).toMatchObject([{ text: 'hello Ann' }]);
  });

  it('[TASKX-011] becomes one in the round after also where its time comes while its answers are being opened', async () => {
    const clock = new FakeClock();
    const reading = createGate();
    const open = createGate();
    const claim = async (): Promise<boolean> => {
      reading.open();
      await open.opened;
      return true;
    };
    const requestState = { replay: { claim } };
    const { server, gate, store } = createSlowServer({ clock }, { requestState });
    const peer = await RawPeer.open(server, modern);
    const { requestState: state, inputRequests } = await peer.call('tools/call', { name: 'asks-first', arguments: {} });
    const [key = ''] = Object.keys(inputRequests);
    const answered = { requestState: state, inputResponses: { [key]: { action: 'accept', content: { name: 'Ann' } } } };
    const promoted = peer.call('tools/call', { name: 'asks-first', arguments: {}, ...answered });
    await reading.opened;
    clock.advance(PROMOTE_MS);
    await turn();
    expect((await store.list('local', { limit: 10 })).tasks).toEqual([]);
    open.open();
    let isAnswered = false;
    void promoted.finally(() => (isAnswered = true));
    // It is tried again every moment until the answers are read.
    for (; !isAnswered; clock.advance(250)) await turn();
    const { resultType, taskId } = await promoted;
    expect(resultType).toBe('task');
    gate.open();
    expect((await peer.until(taskId, ended)).result.content).toMatchObject([{ text: 'hello Ann' }]);
  });

  it('is cancelled by tasks/cancel once it is a task, and no longer by its request', async () => {
    const { server, signals } = createSlowServer();
    const peer = await RawPeer.open(server, modern);
    const { taskId } = await peer.start('slow');
    expect(signals[0]?.aborted).toBe(false);
    await peer.call('tasks/cancel', { taskId });
    expect(signals[0]?.reason).toMatchObject({ code: 'ERR_TASK_CANCELLED' });
    expect((await peer.call('tasks/get', { taskId })).status).toBe('cancelled');
  });

  it('is cancelled with its request before it is a task, and leaves no record', async () => {
    const { server, store, signals } = createSlowServer();
    const create = store.create.bind(store);
    let keep = (): void => undefined;
    const kept = new Promise<void>((resolve) => {
      store.create = async (record, terms) => {
        resolve();
        await new Promise<void>((go) => (keep = go));
        return create(record, terms);
      };
    });
    const peer = await RawPeer.open(server, modern);
    void peer.request('tools/call', { name: 'slow' }, 'gone');
    await kept;
    peer.notify('notifications/cancelled', { requestId: 'gone' });
    await turn();
    keep();
    await turn();
    await turn();
    expect(signals[0]?.aborted).toBe(true);
    expect((await store.list('local', { limit: 10 })).tasks).toEqual([]);
  });

  it('stays an ordinary one where its caller has too many tasks', async () => {
    const { server, store, gate } = createSlowServer({ maxTasksPerPrincipal: 0 });
    const counted = new Promise<void>((resolve) => {
      store.create = () => {
        resolve();
        return Promise.resolve(undefined);
      };
    });
    const peer = await RawPeer.open(server, modern);
    const answer = peer.call('tools/call', { name: 'slow' });
    await counted;
    gate.open();
    expect(await answer).toMatchObject({ resultType: 'complete', content: [{ text: 'first second first false' }] });
  });

  it('fails as a task when its handler does', async () => {
    const { server, gate } = createSlowServer();
    const peer = await RawPeer.open(server, modern);
    const { taskId } = await peer.start('breaks-later');
    gate.open();
    expect(await peer.until(taskId, ended)).toMatchObject({ status: 'completed', result: { isError: true } });
  });

  it('is a task from its start in the core’s generation, whose callers ask for one', async () => {
    const { server } = createSlowServer();
    const peer = await RawPeer.open(server, { version: CORE });
    expect((await peer.start('fast')).taskId).toBeDefined();
    expect((await peer.call('tools/call', { name: 'fast' })).content).toMatchObject([{ text: 'fast' }]);
  });

  it('is an ordinary one for clients that take no tasks, however slow', async () => {
    const { server, store, gate } = createSlowServer();
    const [peer, other] = [await RawPeer.open(server, { ...modern, capabilities: {} }), await RawPeer.open(server, modern)];
    const answer = peer.call('tools/call', { name: 'slow' });
    // One that was called later is a task by now.
    const { taskId } = await other.start('slow');
    expect((await store.list('local', { limit: 10 })).tasks).toMatchObject([{ id: taskId }]);
    gate.open();
    expect((await answer).resultType).toBe('complete');
  });
});
