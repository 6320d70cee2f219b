/** What a server of HTTP+SSE keeps for a client that does not read its stream. */

import { afterEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '@mortise/jsonrpc-core';
import { createHttpHandler } from '@mortise/transport-http/server';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { initializeRequest } from '../support/legacy-client.ts';
import { type Answer, send } from '../support/send.ts';
import { FACES, serve, type Serving } from '../support/serve.ts';
import { aborted, gate, ScriptedEndpoint, text, until } from '../support/scripted-endpoint.ts';
import { untilStill } from '../support/until-still.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const OLDEST = '2024-11-05';
const NO_REQUESTS: readonly JsonObject[] = [
  { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 99 } },
  { jsonrpc: '2.0', id: 'asked', result: {} },
];

let serving: Serving | undefined;
afterEach(async () => {
  await serving?.close();
  serving = undefined;
});

interface Channel {
  readonly stream: Answer;
  say(message: unknown): Promise<Answer>;
  call(id: number, name: string): Promise<Answer>;
}

async function open(port: number): Promise<Channel> {
  const stream = await send(port, { method: 'GET', path: '/sse', headers: { accept: 'text/event-stream' } });
  const path = (await stream.event())?.data ?? '';
  const say = (message: unknown): Promise<Answer> =>
    send(port, { path, headers: { 'content-type': 'application/json' }, body: JSON.stringify(message) });
  await say(initializeRequest(OLDEST));
  await stream.nextMessage();
  return { stream, say, call: (id, name) => say({ jsonrpc: '2.0', id, method: 'tools/call', params: { name } }) };
}

/** Reads a part of a stream that is paused. */
function take({ message }: Answer, bytes: number): Promise<void> {
  return new Promise((resolve) => {
    let taken = 0;
    const onData = (chunk: Buffer | string): void => {
      taken += chunk.length;
      if (taken < bytes) return;
      message.off('data', onData);
      message.pause();
      resolve();
    };
    message.on('data', onData);
    message.resume();
  });
}

/** Leaves a stream unread and calls `long` over it until the last of the calls waits for room. */
async function callUntilOneWaits(peer: Pick<Channel, 'stream' | 'call'> & { clock: FakeClock; endpoint: ScriptedEndpoint; port: number }) {
  const { stream, call, clock, endpoint, port } = peer;
  stream.message.pause();
  const calls: Promise<Answer>[] = [];
  while (!clock.delaysMs.includes(1000)) {
    calls.push(call(calls.length + 1, 'long'));
    await untilStill(port, () => endpoint.received.length);
  }
  return calls;
}

describe.each(FACES)('a stream of HTTP+SSE that is not read, over the %s face', (face) => {
  /** Opens a stream that is not read, of a server whose tools answer with 4 MiB when they may: `long` by `go`, `last` by `goLast`. */
  async function openUnread() {
    const [go, goLast, clock, endpoint] = [gate(), gate(), new FakeClock(), new ScriptedEndpoint()];
    const tool = (ready: Promise<void>) => async () => {
      await ready;
      return text('x'.repeat(4 * MIB));
    };
    endpoint.tools.set('long', tool(go.promise)).set('last', tool(goLast.promise));
    serving = await serve(face, endpoint, { sse: true, maxQueuedBytes: 16 * KIB, clock });
    const { port, handler } = serving;
    const channel = await open(port);
    channel.stream.message.pause();
    return { ...channel, port, handler, endpoint, clock, go, goLast };
  }

  it('[ROBUSTNESS-7] makes the requests of its client wait, and loses none of them', async () => {
    const endpoint = new ScriptedEndpoint();
    let ran = 0;
    endpoint.tools.set('long', () => {
      ran++;
      return text('x'.repeat(512 * KIB));
    });
    // Its time stands still, so that no wait is over before there is room.
    serving = await serve(face, endpoint, { sse: true, clock: new FakeClock() });
    const { port } = serving;
    const { stream, call } = await open(port);
    stream.message.pause();
    const posting = (async (): Promise<number[]> => {
      const statuses: number[] = [];
      for (let id = 1; id <= 60; id++) statuses.push((await call(id, 'long')).status);
      return statuses;
    })();
    await untilStill(port, () => ran);
    // What loopback's own buffers take, and 1 MiB more.
    expect(ran).toBeLessThan(40);
    stream.message.resume();
    const ids: unknown[] = [];
    while (ids.length < 60) ids.push((await stream.nextMessage())?.['id'] ?? 'the stream was cut');
    expect([ids, await posting]).toEqual([Array.from({ length: 60 }, (_, at) => at + 1), Array.from({ length: 60 }, () => 202)]);
    stream.leave();
  });

  it('takes what is no request at once, and a request after a second: who posts and reads in turns gets on', async () => {
    const endpoint = new ScriptedEndpoint();
    endpoint.tools.set('long', () => text('x'.repeat(12 * MIB)));
    const clock = new FakeClock();
    serving = await serve(face, endpoint, { sse: true, clock });
    const { port } = serving;
    const { stream, say, call } = await open(port);
    const calls = await callUntilOneWaits({ stream, call, clock, endpoint, port });
    for (const message of NO_REQUESTS) expect((await say(message)).status).toBe(202);
    expect(endpoint.received.slice(-2)).toEqual(NO_REQUESTS);
    clock.advance(1000);
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    stream.message.resume();
    const ids = new Set<unknown>();
    while (ids.size < calls.length) ids.add((await stream.nextMessage())?.['id'] ?? 'the stream was cut');
    expect([statuses, ids]).toEqual([calls.map(() => 202), new Set(calls.map((_, at) => at + 1))]);
    stream.leave();
  });

  it('[ROBUSTNESS-7] takes no more requests once 64 MiB wait for it, and is cut when it goes on taking nothing', async () => {
    const { endpoint, handler, port, clock, go, goLast, say, call } = await openUnread();
    await call(0, 'last');
    for (let id = 1; id <= 24; id++) await call(id, 'long');
    await until(() => handler.counts.calls === 25);
    go.open();
    await untilStill(port, () => handler.counts.calls);
    // All but what loopback's own buffers take: nothing is cut that may only have been ready together.
    expect(handler.counts.calls).toBeGreaterThan(17);
    const refused = call(25, 'long');
    await untilStill(port, () => clock.running);
    clock.advance(1000);
    expect([(await refused).status, (await refused).headers['retry-after']]).toEqual([503, '1']);
    expect((await say(NO_REQUESTS[0])).status).toBe(202);
    const served = endpoint.received.filter((message) => 'id' in message && message.id === 25);
    expect([served, handler.counts.streams]).toEqual([[], 1]);
    // Those buffers may have taken one more meanwhile.
    expect(handler.counts.calls).toBeGreaterThan(17);
    goLast.open();
    // It took something before the first look; a platform that has taken a piece shows only by the next, a comment, that nobody reads.
    for (let look = 0; look < 6; look++) clock.advance(15_000);
    await until(() => handler.counts.calls === 0);
    expect(handler.counts.streams).toBe(0);
  });

  it('[CANCEL-006] drops a request that is cancelled while it waits for its client to read', async () => {
    const endpoint = new ScriptedEndpoint();
    const ran: unknown[] = [];
    endpoint.tools.set('long', ({ request }) => {
      ran.push(request.id);
      return text('x'.repeat(MIB));
    });
    const clock = new FakeClock();
    serving = await serve(face, endpoint, { sse: true, clock });
    const { port } = serving;
    const { stream, say, call } = await open(port);
    const calls = await callUntilOneWaits({ stream, call, clock, endpoint, port });
    const id = calls.length;
    const isWaiting = !ran.includes(id);
    const another = call(id + 1, 'long');
    await untilStill(port, () => clock.delaysMs.length);
    await say({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
    expect([isWaiting, (await calls.at(-1))?.status]).toEqual([true, 202]);
    clock.advance(1000);
    expect((await another).status).toBe(202);
    stream.message.resume();
    const ids: unknown[] = [];
    while (!ids.includes(id + 1)) ids.push((await stream.nextMessage())?.['id'] ?? 'the stream was cut');
    expect([ids.includes(id), ran.includes(id)]).toEqual([false, false]);
    stream.leave();
  });

  it('[ROBUSTNESS-7] is cut once 256 MiB wait for it and for others, however short the while, and those that less waits for are not', async () => {
    const endpoint = new ScriptedEndpoint();
    const go = gate();
    endpoint.tools.set('long', async () => {
      await go.promise;
      return text('x'.repeat(8 * MIB));
    });
    serving = await serve(face, endpoint, { sse: true, maxQueuedBytes: 16 * KIB, clock: new FakeClock() });
    const { port, handler } = serving;
    const counts = [20, 18, 2];
    const channels: Channel[] = [];
    for (const count of counts) {
      const channel = await open(port);
      channel.stream.message.pause();
      for (let id = 1; id <= count; id++) await channel.call(id, 'long');
      channels.push(channel);
    }
    await until(() => handler.counts.calls === 40);
    go.open();
    await until(() => handler.counts.calls <= 20);
    expect(handler.counts.streams).toBe(2);
    channels[2]?.stream.message.resume();
    for (let id = 1; id <= 2; id++) expect(await channels[2]?.stream.nextMessage()).toMatchObject({ id });
  });

  it('is not cut while its reader takes a single answer that is long, however slowly', async () => {
    const endpoint = new ScriptedEndpoint();
    endpoint.tools.set('long', () => text('x'.repeat(15 * MIB)));
    const clock = new FakeClock();
    serving = await serve(face, endpoint, { sse: true, clock, keepAliveMs: 1000, stallMs: 2000 });
    const { stream, call } = await open(serving.port);
    stream.message.pause();
    await call(1, 'long');
    for (let taken = 0; taken < 12; taken += 3) {
      await take(stream, 3 * MIB);
      clock.advance(1000);
    }
    stream.message.resume();
    expect(await stream.nextMessage()).toMatchObject({ id: 1 });
    stream.leave();
  });

  it('loses no answer of those that are ready together, however long, for who reads, however slowly', async () => {
    const { handler, port, clock, go, goLast, stream, call } = await openUnread();
    for (let id = 1; id <= 24; id++) await call(id, 'long');
    await call(25, 'last');
    await until(() => handler.counts.calls === 25);
    go.open();
    await untilStill(port, () => handler.counts.calls);
    // One of them may take longer than this.
    clock.advance(14_000);
    goLast.open();
    await untilStill(port, () => handler.counts.calls);
    stream.message.resume();
    const ids = new Set<unknown>();
    while (ids.size < 25) ids.add((await stream.nextMessage())?.['id'] ?? 'the stream was cut');
    expect(ids).toEqual(new Set(Array.from({ length: 25 }, (_, at) => at + 1)));
    stream.leave();
  });
});

/** A channel without any connection, so that a thousand posts are quick. @param isParsed Whether a framework in front has parsed the bodies. */
async function openDirectly(endpoint: ScriptedEndpoint, isParsed: boolean) {
  const handler = createHttpHandler(endpoint, { sse: true });
  const stream = await handler.fetch(new Request('http://localhost/sse', { headers: { accept: 'text/event-stream' } }));
  const reader = stream.body?.getReader();
  const path = /data: (\S+)/.exec(new TextDecoder().decode((await reader?.read())?.value))?.[1] ?? '';
  const init = { method: 'POST', headers: { 'content-type': 'application/json' } };
  const post = (message: unknown): Promise<Response> =>
    isParsed
      ? handler.fetch(new Request(`http://localhost${path}`, init), { parsedBody: message })
      : handler.fetch(new Request(`http://localhost${path}`, { ...init, body: JSON.stringify(message) }));
  await post(initializeRequest(OLDEST));
  await reader?.read();
  const call = (id: number, args: JsonObject = {}): Promise<Response> =>
    post({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'wait', arguments: args } });
  return { handler, post, call };
}

describe('calls of HTTP+SSE', () => {
  it.each([
    ['as it came', false],
    ['as a framework in front has parsed it', true],
  ])('[ROBUSTNESS-7] are refused with 503 once they take 64 MiB together, however short their text, %s', async (_how, isParsed) => {
    const endpoint = new ScriptedEndpoint();
    endpoint.tools.set('wait', async ({ call }) => {
      await aborted(call.signal);
      return text('done');
    });
    const { handler, call } = await openDirectly(endpoint, isParsed);
    const many = Array.from({ length: 500_000 }, () => ({}));
    const statuses: number[] = [];
    for (let id = 1; id <= 6; id++) statuses.push((await call(id, { many })).status);
    expect([statuses.at(0), statuses.at(-1)]).toEqual([202, 503]);
    expect(handler.counts.calls).toBeLessThan(4);
    await handler.close({ drainMs: 0 });
  });

  it('[ROBUSTNESS-7] are refused with 503 past a thousand at once, and what is no call is not', async () => {
    const endpoint = new ScriptedEndpoint();
    const go = gate();
    endpoint.tools.set('wait', async () => {
      await go.promise;
      return text('done');
    });
    const { handler, post, call } = await openDirectly(endpoint, false);
    for (let id = 1; id <= 1000; id++) expect((await call(id)).status).toBe(202);
    const refused = await call(1001);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect((await post({ jsonrpc: '2.0', method: 'notifications/roots/list_changed' })).status).toBe(202);
    go.open();
    await until(() => handler.counts.calls === 0);
    expect((await call(1002)).status).toBe(202);
    await handler.close();
  });
});
