/** What is on its way when a server closes still arrives, and what never ends holds nothing up. */

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { JsonRpcMessage } from '@mortise/jsonrpc-core';
import { type HttpServing, serveHttp } from '@mortise/transport-http/node';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { forbidUnhandled } from '../support/forbid-unhandled.ts';
import { LegacyClient } from '../support/legacy-client.ts';
import { TestEventStore } from '../support/memory-stores.ts';
import { modernHeaders, modernRequest, modernTool } from '../support/modern.ts';
import { ACCEPT, send } from '../support/send.ts';
import { FACES, serve, type Serving } from '../support/serve.ts';
import { type Gate, gate, ScriptedEndpoint, text, until } from '../support/scripted-endpoint.ts';
import { countOwnMs } from '../../../../scripts/test/cpu-time.ts';

const LENGTH = 12 * 2 ** 20;

/** Calls a tool, and reads its answer only when it is told to. */
class LazyReader {
  readonly socket: Socket;
  #bytes = 0;
  #end = '';

  constructor(port: number, headers: Readonly<Record<string, string>>, message: unknown) {
    this.socket = connect(port, '127.0.0.1');
    const body = JSON.stringify(message);
    const all = {
      host: `127.0.0.1:${port}`,
      'content-type': 'application/json',
      accept: ACCEPT,
      'content-length': body.length,
      ...headers,
    };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    this.socket.write(`POST /mcp HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
    this.socket.pause();
  }

  /** Reads until the server closes the connection. */
  async read(): Promise<{ readonly bytes: number; readonly end: string }> {
    this.socket.on('data', (chunk) => {
      this.#bytes += chunk.length;
      this.#end = (this.#end + chunk.toString('latin1')).slice(-10);
    });
    const closed = new Promise((resolve) => this.socket.once('close', resolve));
    this.socket.on('error', () => undefined);
    this.socket.resume();
    await closed;
    return { bytes: this.#bytes, end: this.#end };
  }
}

const CALL = { name: 'big', arguments: {} };
const KINDS = {
  'a modern call': (port: number) => {
    const request = modernRequest('tools/call', CALL);
    return new LazyReader(port, modernHeaders(request), request);
  },
  'a call of a session': async (port: number) => {
    const { headers } = await LegacyClient.open(port, '2025-06-18');
    return new LazyReader(port, headers, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: CALL });
  },
};

forbidUnhandled();

describe('closing serveHttp while an answer of megabytes goes out', () => {
  let serving: HttpServing;
  let go: Gate;
  afterEach(() => serving.close());

  async function start(drainMs: number): Promise<void> {
    const endpoint = new ScriptedEndpoint();
    go = gate();
    endpoint.tools.set('big', async () => {
      await go.promise;
      return text('x'.repeat(LENGTH));
    });
    serving = await serveHttp(endpoint, { port: 0, drainMs });
  }

  it('[ROBUSTNESS-4] closes connections that a listener of the program has upgraded', async () => {
    await start(0);
    serving.server.on('upgrade', (_request, socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n'));
    const upgraded = connect(serving.port, '127.0.0.1');
    upgraded.write('GET /other HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n');
    await once(upgraded, 'data');
    const gone = once(upgraded, 'close');
    await serving.close();
    await gone;
  });

  it.each(Object.entries(KINDS))('[ROBUSTNESS-4] gives %s that ends meanwhile its whole answer', async (_kind, open) => {
    await start(60_000);
    const reader = await open(serving.port);
    const { handler } = serving;
    await until(() => handler.counts.calls === 1);
    const closing = serving.close();
    go.open();
    await until(() => handler.counts.calls === 0);
    await send(serving.port).catch(() => undefined);
    const { bytes, end } = await reader.read();
    expect(bytes).toBeGreaterThan(LENGTH);
    expect(end).toMatch(/\}$/);
    await closing;
  });

  it.each(Object.entries(KINDS).flatMap(([kind, open]) => [60_000, Infinity].map((drainMs) => [kind, drainMs, open] as const)))(
    '[ROBUSTNESS-4] gives %s that has ended already its whole answer, within %d ms',
    async (_kind, drainMs, open) => {
      await start(drainMs);
      const reader = await open(serving.port);
      const { handler } = serving;
      await until(() => handler.counts.calls === 1);
      go.open();
      await until(() => handler.counts.calls === 0);
      const closing = serving.close();
      // Nobody listens any more, at once.
      await expect(send(serving.port)).rejects.toThrow('ECONNREFUSED');
      const { bytes, end } = await reader.read();
      expect(bytes).toBeGreaterThan(LENGTH);
      expect(end).toMatch(/\}$/);
      await closing;
    },
  );

  it('[ROBUSTNESS-7] waits no longer than its deadline for a client that reads nothing', async () => {
    await start(50);
    const reader = KINDS['a modern call'](serving.port);
    const { handler } = serving;
    await until(() => handler.counts.calls === 1);
    go.open();
    const ownMs = countOwnMs();
    await serving.close();
    expect(ownMs()).toBeLessThan(5_000);
    reader.socket.destroy();
  });
});

describe.each(FACES)('closing over the %s face', (face) => {
  let serving: Serving;
  afterEach(() => serving.close());

  it.each(['2025-06-18', '2025-11-25'])(
    '[ROBUSTNESS-4] waits for an answer of %s that the event store takes its time for',
    async (version) => {
      const eventStore = new TestEventStore();
      const append = eventStore.append.bind(eventStore);
      const [go, asked] = [gate(), gate()];
      eventStore.append = async (sessionId: string, streamId: string, message: JsonRpcMessage | undefined): Promise<string> => {
        if (message !== undefined) {
          asked.open();
          await go.promise;
        }
        return append(sessionId, streamId, message);
      };
      const endpoint = new ScriptedEndpoint();
      endpoint.tools.set('told', async ({ call }) => {
        await call.send({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 1 } });
        return text('told');
      });
      serving = await serve(face, endpoint, { eventStore });
      const client = await LegacyClient.open(serving.port, version);
      const call = client.tool('told');
      await asked.promise;
      const closing = serving.handler.close({ drainMs: 60_000 });
      // Whoever comes now is refused, so that closing has got on as far as it can.
      expect((await modernTool(serving.port, 'echo')).status).toBe(503);
      go.open();
      expect(await (await call).response()).toMatchObject({ result: { content: [{ text: 'told' }] } });
      await closing;
    },
  );

  it.each([
    { drainMs: 3_000, endsMs: 3_000 },
    { drainMs: 0, endsMs: 1_000 },
  ])(
    '[ROBUSTNESS-5] waits no longer than $endsMs ms for a store that never settles, where it drains for $drainMs',
    async ({ drainMs, endsMs }) => {
      const clock = new FakeClock();
      const lines: string[] = [];
      const logger = { log: (_level: string, line: string): void => void lines.push(line) };
      const eventStore = new TestEventStore();
      eventStore.delete = () => new Promise(() => undefined);
      serving = await serve(face, new ScriptedEndpoint(), { eventStore, clock, logger });
      const client = await LegacyClient.open(serving.port);
      const get = await client.get();
      let isClosed = false;
      const closing = serving.handler.close({ drainMs }).then(() => (isClosed = true));
      // The stream does not wait for the store.
      await get.events();
      clock.advance(endsMs - 1);
      await new Promise(setImmediate);
      expect(isClosed).toBe(false);
      clock.advance(1);
      await closing;
      expect([lines, serving.handler.counts]).toEqual([
        ['The server closed before all sessions ended: a store or the endpoint takes too long'],
        { sessions: 0, streams: 0, calls: 0 },
      ]);
    },
  );
});
