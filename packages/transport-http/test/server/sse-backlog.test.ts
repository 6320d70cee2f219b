/** What a server of HTTP+SSE keeps for a client that does not read its stream. */

import { afterEach, describe, expect, it } from 'vitest';
import { createHttpHandler } from '@mortise/transport-http/server';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { initializeRequest } from '../support/legacy-client.ts';
import { type Answer, send } from '../support/send.ts';
import { FACES, serve, type Serving } from '../support/serve.ts';
import { gate, ScriptedEndpoint, text, until } from '../support/scripted-endpoint.ts';
import { untilStill } from '../support/until-still.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const OLDEST = '2024-11-05';

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

describe.each(FACES)('a stream of HTTP+SSE that is not read, over the %s face', (face) => {
  /** Opens a stream that is not read, of a server whose tools answer with 4 MiB when they may: `long` by `go`, `last` by `goLast`. */
  async function openUnread() {
    const [go, goLast, clock, endpoint] = [gate(), gate(), new FakeClock(), new ScriptedEndpoint()];
    const tool = (ready: Promise<void>) => async () => {
      await ready;
      return text('x'.repeat(4 * MIB));
    };
    endpoint.tools.set('long', tool(go.promise)).set('last', tool(goLast.promise));
    serving = await serve(face, endpoint, { sse: true, clock });
    const { port, handler } = serving;
    const channel = await open(port);
    channel.stream.message.pause();
    return { ...channel, port, handler, endpoint, clock, go, goLast };
  }

  it('is not cut while its reader takes a single answer that is long, however slowly', async () => {
    const endpoint = new ScriptedEndpoint();
    endpoint.tools.set('long', () => text('x'.repeat(15 * MIB)));
    const clock = new FakeClock();
    serving = await serve(face, endpoint, { sse: true, clock, stallMs: 2000 });
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

/** A channel without any connection, so that a hundred posts are quick. */
async function openDirectly(endpoint: ScriptedEndpoint) {
  const handler = createHttpHandler(endpoint, { sse: true });
  const stream = await handler.fetch(new Request('http://localhost/sse', { headers: { accept: 'text/event-stream' } }));
  const reader = stream.body?.getReader();
  const path = /data: (\S+)/.exec(new TextDecoder().decode((await reader?.read())?.value))?.[1] ?? '';
  const init = { method: 'POST', headers: { 'content-type': 'application/json' } };
  const post = (message: unknown): Promise<Response> =>
    handler.fetch(new Request(`http://localhost${path}`, { ...init, body: JSON.stringify(message) }));
  await post(initializeRequest(OLDEST));
  await reader?.read();
  const call = (id: number): Promise<Response> => post({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'wait' } });
  return { handler, post, call };
}

describe('calls of HTTP+SSE', () => {
  it('[ROBUSTNESS-7] are refused with 503 past a hundred at once, and what is no call is not', async () => {
    const endpoint = new ScriptedEndpoint();
    const go = gate();
    endpoint.tools.set('wait', async () => {
      await go.promise;
      return text('done');
    });
    const { handler, post, call } = await openDirectly(endpoint);
    for (let id = 1; id <= 100; id++) expect((await call(id)).status).toBe(202);
    const refused = await call(101);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
    expect((await post({ jsonrpc: '2.0', method: 'notifications/roots/list_changed' })).status).toBe(202);
    go.open();
    await until(() => handler.counts.calls === 0);
    expect((await call(102)).status).toBe(202);
    await handler.close();
  });
});
