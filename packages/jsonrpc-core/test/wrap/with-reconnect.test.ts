import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ConnectionClosedError, ConnectionLostError, createInMemoryPair, type JsonRpcMessage, type Transport } from '../../src/index.ts';
import { isExchangeTransport } from '../../src/transport.ts';
import { Connection } from '../../src/connection.ts';
import { type ReconnectOptions, withReconnect } from '../../src/wrap.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { outcomeOf, result, turn } from '../support/raw-peer.ts';

const NOTE: JsonRpcMessage = { jsonrpc: '2.0', method: 'n' };

/** A server that answers, can be taken down, and counts how often it was dialled. */
class Server {
  isUp = true;
  dials = 0;
  channels: Transport[] = [];
  readonly received: unknown[] = [];

  readonly dial = (): Transport => {
    this.dials++;
    if (!this.isUp) {
      return { start: () => Promise.reject(new Error('refused')), send: () => Promise.resolve(), close: () => Promise.resolve() };
    }
    const [near, far] = createInMemoryPair();
    this.channels.push(far);
    far.onmessage = (message: JsonRpcMessage) => {
      this.received.push(message);
      if ('id' in message) void far.send(result(message.id as number, { channel: this.channels.indexOf(far) }));
    };
    void far.start();
    return near;
  };

  async drop(): Promise<void> {
    await this.channels.at(-1)?.close();
    await turn();
  }
}

function fail(): never {
  throw new Error('close');
}

/** A channel that ends while it starts, and whose start says nothing of it. */
function failAtStart(): Transport {
  const channel: Transport = {
    start: () => {
      channel.onclose?.();
      return Promise.resolve();
    },
    send: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
  return channel;
}

function open(server: Server, options: ReconnectOptions = {}): { transport: Transport; clock: FakeClock; events: string[] } {
  const clock = new FakeClock();
  const events: string[] = [];
  const transport = withReconnect(server.dial, { clock, ...options });
  transport.onerror = (error) => events.push(error.constructor.name);
  transport.onclose = () => events.push('close');
  return { transport, clock, events };
}

describe('withReconnect', () => {
  beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0));
  afterEach(() => vi.restoreAllMocks());

  it('keeps from the channel what the program throws when it is told of an error', async () => {
    const [near] = createInMemoryPair();
    const transport = withReconnect(() => near, { clock: new FakeClock() });
    const told: string[] = [];
    transport.onerror = ({ message }) => {
      told.push(message);
      throw new Error('mine');
    };
    await transport.start();
    near.onerror?.(new Error('of the channel'));
    expect(told).toEqual(['of the channel']);
    await transport.close();
  });

  it.each<[string, () => unknown]>([
    ['throws', () => fail()],
    ['gives nothing', () => undefined],
  ])('goes on after an attempt with a foreign transport whose close %s', async (_what, close) => {
    const server = new Server();
    const clock = new FakeClock();
    const foreign = { start: () => Promise.reject(new Error('refused')), send: () => Promise.resolve(), close } as Transport;
    const transport = withReconnect(() => (server.isUp ? server.dial() : (server.dials++, foreign)), { clock });
    await transport.start();
    server.isUp = false;
    await server.drop();
    for (const dials of [2, 3]) {
      clock.advance(30_000);
      await turn();
      expect(server.dials).toBe(dials);
    }
    await outcomeOf(transport.close());
  });

  it('opens a lost channel again, tells of the loss, and sends what waited', async () => {
    const server = new Server();
    const { transport, clock, events } = open(server);
    await transport.start();
    await server.drop();
    expect(events).toEqual(['ConnectionLostError']);
    const waiting = transport.send(NOTE);
    clock.advance(500);
    await waiting;
    await turn();
    expect(server.received).toEqual([NOTE]);
    expect(server.dials).toBe(2);
    await transport.close();
    await turn();
    expect(events).toEqual(['ConnectionLostError', 'close']);
  });

  it('has a Connection reject what was in flight and go on afterwards', async () => {
    const server = new Server();
    const { transport, clock } = open(server);
    const connection = new Connection(transport, { clock });
    await connection.start();
    expect(await connection.request('a')).toEqual({ channel: 0 });
    const lost = outcomeOf(connection.request('b', {}, { onProgress: () => undefined }));
    await server.drop();
    const { error } = await lost;
    expect(error === undefined || error instanceof ConnectionLostError).toBe(true);
    const next = connection.request('c');
    clock.advance(500);
    expect(await next).toEqual({ channel: 1 });
    await connection.close();
    expect(clock.timerCount).toBe(0);
  });

  it('[ROBUSTNESS-10] waits ever longer, never less than 500 ms nor more than 30 s, and gives up', async () => {
    for (const [random, ...expected] of [
      [0, ...Array.from({ length: 10 }, () => 500)],
      [0.5, 750, 1_250, 2_250, 4_250, 8_250, 15_250, 15_250, 15_250, 15_250, 15_250],
      [1 - 2 ** -53, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000, 30_000, 30_000],
    ] as const) {
      vi.spyOn(Math, 'random').mockReturnValue(random);
      const server = new Server();
      const { transport, clock, events } = open(server);
      await transport.start();
      server.isUp = false;
      await server.drop();
      const delaysMs: number[] = [];
      while (clock.timerCount > 0) {
        const [delayMs = 0] = clock.delaysMs;
        delaysMs.push(Math.round(delayMs));
        clock.advance(delayMs);
        await turn();
      }
      expect(delaysMs).toEqual(expected);
      expect(events.at(-1)).toBe('close');
      await expect(transport.send(NOTE)).rejects.toBeInstanceOf(ConnectionClosedError);
    }
  });

  it('[ROBUSTNESS-10] gives up on a peer that takes and drops connections without a word', async () => {
    const server = new Server();
    const { transport, clock, events } = open(server, { maxAttempts: 3 });
    await transport.start();
    for (let round = 0; round < 10; round++) {
      await server.drop();
      clock.advance(30_000);
      await turn();
    }
    expect(server.dials).toBe(4);
    expect(events.at(-1)).toBe('close');
  });

  it('takes a channel that ends while it is being opened for a failed attempt', async () => {
    const clock = new FakeClock();
    const [near, far] = createInMemoryPair();
    const channels: Transport[] = [near];
    const transport = withReconnect(() => channels.shift() ?? failAtStart(), { clock, maxAttempts: 2 });
    let closes = 0;
    transport.onclose = () => closes++;
    await transport.start();
    await far.close();
    for (let round = 0; round < 5; round++) {
      await turn();
      clock.advance(30_000);
    }
    await turn();
    expect(closes).toBe(1);
    await expect(transport.send(NOTE)).rejects.toBeInstanceOf(ConnectionClosedError);
  });

  it('counts anew once the peer has spoken', async () => {
    const server = new Server();
    const { transport, clock } = open(server, { maxAttempts: 2 });
    await transport.start();
    for (let round = 0; round < 5; round++) {
      await server.drop();
      clock.advance(30_000);
      await turn();
      await server.channels.at(-1)?.send(NOTE);
      await turn();
    }
    expect(server.dials).toBe(6);
    await transport.close();
  });

  it('tries the first start once, and reports why it failed', async () => {
    const server = new Server();
    server.isUp = false;
    const { transport, clock } = open(server);
    await expect(transport.send(NOTE)).rejects.toMatchObject({ code: 'ERR_NOT_CONNECTED' });
    await expect(transport.start()).rejects.toThrow('refused');
    expect(clock.timerCount).toBe(0);
    await expect(transport.start()).rejects.toBeInstanceOf(ConnectionClosedError);
  });

  it('rejects what waits and stops trying when it is closed', async () => {
    const server = new Server();
    const { transport, clock, events } = open(server);
    await transport.start();
    await expect(transport.start()).rejects.toMatchObject({ code: 'ERR_ALREADY_STARTED' });
    await server.drop();
    const waiting = outcomeOf(transport.send(NOTE));
    await transport.close();
    await transport.close();
    expect(await waiting).toEqual({ error: expect.any(ConnectionClosedError) });
    expect(clock.timerCount).toBe(0);
    await turn();
    expect(events.filter((event) => event === 'close')).toHaveLength(1);
    expect(server.dials).toBe(1);
  });

  it('does not try again where it is closed while an attempt is under way', async () => {
    const clock = new FakeClock();
    const [near, far] = createInMemoryPair();
    let refuse: ((error: Error) => void) | undefined;
    const slow: Transport = {
      start: () => new Promise((_resolve, reject) => (refuse = reject)),
      send: () => Promise.resolve(),
      close: () => Promise.resolve(),
    };
    const channels = [near];
    const transport = withReconnect(() => channels.shift() ?? slow, { clock });
    await transport.start();
    await far.close();
    await turn();
    clock.advance(30_000);
    await transport.close();
    refuse?.(new Error('refused'));
    await turn();
    expect(clock.timerCount).toBe(0);
  });

  it('passes exchanges to the present channel where it has them', async () => {
    const { transport } = open(new Server());
    expect(isExchangeTransport(transport)).toBe(false);
    const able = withReconnect(() =>
      Object.assign(createInMemoryPair()[0], { exchange: (request: { id: number | string }) => Promise.resolve(result(request.id)) }),
    );
    expect(isExchangeTransport(able) && (await able.exchange({ jsonrpc: '2.0', id: 4, method: 'a' }))).toEqual(result(4));
  });
});

it('refuses options that do not exist, and makes no transport', () => {
  const factory = (): Transport => expect.fail('no transport is made');
  const says = 'withReconnect options: unknown option "attempts" (known: maxAttempts, clock)';
  expect(() => withReconnect(factory, { attempts: 3 } as object)).toThrow(says);
});
