import { once } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import type { JsonRpcMessage } from '@mortise/jsonrpc-core';
import { Connection } from '@mortise/jsonrpc-core/connection';
import { type OpenChannel, StreamTransport, type StreamTransportOptions } from '@mortise/transport-stdio';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { describe, expect, it } from 'vitest';
import { createStreamPair } from './stream-pair.ts';

const note = (n: number): JsonRpcMessage => ({ jsonrpc: '2.0', method: 'note', params: { n } });
const request = (id: number | string): string => `${JSON.stringify({ jsonrpc: '2.0', id, method: 'ask' })}\n`;
const answer = (id: number | string): JsonRpcMessage => ({ jsonrpc: '2.0', id, result: {} });

/** Notes every write; takes the next one only when told to, if `isSlow`. */
class Sink extends Writable {
  readonly writes: string[] = [];
  readonly #isSlow: boolean;
  #done: (() => void) | undefined;

  constructor(isSlow = false) {
    super({ decodeStrings: false, highWaterMark: 1024 });
    this.#isSlow = isSlow;
  }

  override _write(chunk: string, _: string, done: () => void): void {
    this.writes.push(String(chunk));
    if (this.#isSlow) this.#done = done;
    else done();
  }

  takeAll(): void {
    for (let done = this.#done; done; done = this.#done) {
      this.#done = undefined;
      done();
    }
  }
}

/** Waits, a turn of the event loop at a time. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(setImmediate);
}

function createTransport(
  output: Writable,
  options?: StreamTransportOptions,
): { transport: StreamTransport; input: PassThrough; closed: Promise<void> } {
  const input = new PassThrough();
  const transport = new StreamTransport(() => ({ input, output }), options);
  const closed = new Promise<void>((resolve) => {
    transport.onclose = resolve;
  });
  return { transport, input, closed };
}

describe('StreamTransport', () => {
  it('tells who asks while it frees what the peer has ended why that was', async () => {
    const input = new PassThrough();
    const reason = Object.assign(new Error('the peer went home'), { endsChannel: true });
    let begin: () => void = () => undefined;
    let free: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const freed = new Promise<void>((resolve) => (free = resolve));
    const open: OpenChannel = ({ report }) => ({
      input,
      output: new Sink(),
      release: async () => {
        begin();
        await freed;
        report(reason);
      },
    });
    const connection = new Connection(new StreamTransport(open, { drainMs: 0 }));
    await connection.start();
    input.end();
    await begun;
    // Who waits for no answer is not kept waiting for the reason.
    for (const message of [note(1), { jsonrpc: '2.0', id: 1, result: {} } as const]) {
      await expect(connection.transport.send(message)).rejects.toMatchObject({ code: 'ERR_CONNECTION_CLOSED' });
    }
    const rejected = expect(connection.request('x')).rejects.toMatchObject({ code: 'ERR_CONNECTION_CLOSED', cause: reason });
    free();
    await rejected;
    await expect(connection.transport.send(note(1))).rejects.toMatchObject({ code: 'ERR_CONNECTION_CLOSED' });
  });

  it.each([
    { name: 'maxMessageBytes', least: 1 },
    ...['maxQueuedBytes', 'maxPendingBytes', 'drainMs', 'flushMs'].map((name) => ({ name, least: 0 })),
  ])('[ROBUSTNESS-7] refuses $name that is no number of $least or more', ({ name, least }) => {
    const make = (value: unknown): unknown => createTransport(new Sink(), { [name]: value });
    for (const [bad, text] of [
      [Number.NaN, 'NaN'],
      [least - 1, `${least - 1}`],
      ['1mb', '"1mb"'],
    ] as const) {
      expect(() => make(bad)).toThrow(new TypeError(`StreamTransport options: "${name}" must be a number, ${least} or more, got ${text}`));
    }
    for (const good of [undefined, least, Infinity]) expect(() => make(good)).not.toThrow();
  });

  it('writes what is sent in one tick at once, answers given in microtasks included', async () => {
    const sink = new Sink();
    const { transport, input } = createTransport(sink);
    transport.onmessage = (message: JsonRpcMessage) => {
      const id = (message as { id: number }).id;
      void (async () => {
        for (let depth = 0; depth < id % 7; depth++) await Promise.resolve();
        await transport.send(answer(id));
      })();
    };
    await transport.start();
    input.write(Array.from({ length: 100 }, (_, id) => request(id)).join(''));
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    expect(sink.writes).toHaveLength(1);
    expect(sink.writes[0]?.split('\n')).toHaveLength(101);
    await transport.close();
  });

  it('returns one and the same resolved promise while nothing waits', async () => {
    const { transport } = createTransport(new Sink());
    await transport.start();
    expect(transport.send(note(0))).toBe(transport.send(note(1)));
    await transport.close();
  });

  it('[ROBUSTNESS-7] lets send wait once maxQueuedBytes are queued, and go on when the reader has taken half of them', async () => {
    const sink = new Sink(true);
    const { transport } = createTransport(sink, { maxQueuedBytes: 10_000, flushMs: 0 });
    await transport.start();
    const pad: JsonRpcMessage = { jsonrpc: '2.0', method: 'note', params: { pad: 'x'.repeat(4000) } };
    for (let n = 0; n < 3; n++) await transport.send(pad);
    await new Promise(setImmediate);
    let isSettled = false;
    const waiting = transport.send(pad).then(() => {
      isSettled = true;
    });
    await new Promise(setImmediate);
    expect(isSettled).toBe(false);
    sink.takeAll();
    await waiting;
    await transport.close();
  });

  it('[ROBUSTNESS-7] stops reading a peer that asks on and on and reads no answers, and goes on when it does', async () => {
    const sink = new Sink(true);
    const { transport, input } = createTransport(sink, { maxQueuedBytes: 1000, maxPendingBytes: 20_000, flushMs: 0 });
    let count = 0;
    transport.onmessage = (message: JsonRpcMessage) => {
      count++;
      void transport.send({ jsonrpc: '2.0', id: (message as { id: number }).id, result: { pad: 'x'.repeat(1000) } }).catch(() => undefined);
    };
    await transport.start();
    const flood = async (): Promise<void> => {
      for (let id = 0; id < 50; id++) {
        input.write(request(id));
        await new Promise(setImmediate);
      }
    };
    await flood();
    expect(count).toBeGreaterThan(15);
    expect(count).toBeLessThan(30);
    for (let turn = 0; turn < 50; turn++) {
      sink.takeAll();
      await new Promise(setImmediate);
    }
    expect(count).toBe(50);
    await transport.close();
  });

  it('[ROBUSTNESS-7] reads on a peer that leaves answers unread where it is told of no bound, as the side that calls must', async () => {
    const sink = new Sink(true);
    const { transport, input } = createTransport(sink, { maxQueuedBytes: 1000, maxMessageBytes: 2000, flushMs: 0 });
    let count = 0;
    transport.onmessage = (message: JsonRpcMessage) => {
      count++;
      void transport.send({ jsonrpc: '2.0', id: (message as { id: number }).id, result: { pad: 'x'.repeat(1000) } }).catch(() => undefined);
    };
    await transport.start();
    for (let id = 0; id < 500; id++) {
      input.write(request(id));
      await new Promise(setImmediate);
    }
    expect(count).toBe(500);
    await transport.close();
  });

  it('[ROBUSTNESS-7] reads a peer on whatever it has in flight', async () => {
    const { transport, input } = createTransport(new Sink(), { maxMessageBytes: 2000, maxPendingBytes: 2000 });
    const received: unknown[] = [];
    transport.onmessage = (message: JsonRpcMessage) => void received.push('method' in message && 'id' in message ? message.id : 'note');
    await transport.start();
    const pad = 'x'.repeat(1000);
    for (let id = 0; id < 50; id++) input.write(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'ask', params: { pad } })}\n`);
    input.write(`${JSON.stringify(note(1))}\n`);
    await until(() => received.length === 51);
    expect(received.at(-1)).toBe('note');
    await transport.close();
  });

  it('[ROBUSTNESS-7] tells how many bytes a long message brought, and how many bytes of answers lay unread', async () => {
    const sink = new Sink(true);
    const { transport, input } = createTransport(sink, { maxQueuedBytes: 1000, flushMs: 0 });
    const infos: unknown[] = [];
    transport.onmessage = (_, told) => void infos.push(told);
    await transport.start();
    const long = `${JSON.stringify({ jsonrpc: '2.0', id: 'long', method: 'ask', params: { pad: 'ä'.repeat(1000) } })}\n`;
    input.write(request(1) + long);
    await until(() => infos.length === 2);
    const big: JsonRpcMessage = { jsonrpc: '2.0', id: 1, result: { pad: 'x'.repeat(2000) } };
    for (let n = 0; n < 2; n++) {
      void transport.send(big).catch(() => undefined);
      await new Promise(setImmediate);
    }
    void transport.send(big).catch(() => undefined);
    input.write(request(2));
    await until(() => infos.length === 3);
    const unreadBytes = 2 * (JSON.stringify(big).length + 1);
    expect(infos).toEqual([
      undefined,
      { bytes: Buffer.byteLength(long) - 1, unreadBytes: 0 },
      { bytes: request(2).length - 1, unreadBytes },
    ]);
    sink.takeAll();
    await new Promise(setImmediate);
    input.write(request(3));
    await until(() => infos.length === 4);
    expect(infos[3]).toBeUndefined();
    await transport.close();
  });

  it('[ROBUSTNESS-7] notices the end of the input of a peer that is held back, and reads what it had sent before', async () => {
    const [clock, sink] = [new FakeClock(), new Sink(true)];
    const { transport, input, closed } = createTransport(sink, { maxQueuedBytes: 1000, maxPendingBytes: 5000, flushMs: 0, clock });
    let count = 0;
    transport.onmessage = (message: JsonRpcMessage) => {
      count++;
      void transport.send({ jsonrpc: '2.0', id: (message as { id: number }).id, result: { pad: 'x'.repeat(1000) } }).catch(() => undefined);
    };
    await transport.start();
    for (let id = 0; id < 20; id++) {
      input.write(request(id));
      await new Promise(setImmediate);
    }
    expect(count).toBeLessThan(10);
    input.end();
    await until(() => count === 20);
    await until(() => clock.delaysMs.includes(0));
    clock.advance(0);
    await closed;
  });

  it('writes what was accepted before it closes', async () => {
    const { client, server } = createStreamPair();
    const received: unknown[] = [];
    server.onmessage = (message: JsonRpcMessage) => void received.push(message);
    const ended = new Promise<void>((resolve) => {
      server.onclose = resolve;
    });
    await Promise.all([client.start(), server.start()]);
    for (let n = 0; n < 5; n++) void client.send(note(n));
    await client.close();
    await ended;
    expect(received).toEqual([0, 1, 2, 3, 4].map(note));
  });

  it('answers what was asked before the input ended, and then closes', async () => {
    const sink = new Sink();
    const { transport, input, closed } = createTransport(sink);
    const asked = new Promise<void>((resolve) => {
      transport.onmessage = () => resolve();
    });
    await transport.start();
    input.end(request(7));
    await asked;
    await once(input, 'end');
    await new Promise(setImmediate);
    await transport.send(answer(7));
    await closed;
    expect(sink.writes).toEqual([`${JSON.stringify(answer(7))}\n`]);
  });

  it('reads a last line that lacks its newline', async () => {
    const { transport, input, closed } = createTransport(new Sink());
    const received: unknown[] = [];
    transport.onmessage = (message: JsonRpcMessage) => void received.push(message);
    await transport.start();
    input.end(JSON.stringify(note(1)));
    await closed;
    expect(received).toEqual([note(1)]);
  });

  it('gives up on answers when drainMs have passed since the input ended', async () => {
    const clock = new FakeClock();
    const { transport, input, closed } = createTransport(new Sink(), { clock, drainMs: 321 });
    await transport.start();
    input.end(request(7));
    await until(() => clock.delaysMs.includes(321));
    clock.advance(321);
    await closed;
    await expect(transport.send(answer(7))).rejects.toMatchObject({ code: 'ERR_CONNECTION_CLOSED' });
  });

  it('does not wait for the answer to a cancelled request', async () => {
    const { transport, input, closed } = createTransport(new Sink(), { clock: new FakeClock() });
    await transport.start();
    input.end(`${request('a')}${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'a' } })}\n`);
    await closed;
  });

  it('does not wait for answers to what is no request', async () => {
    const { transport, input, closed } = createTransport(new Sink(), { clock: new FakeClock() });
    transport.onmessage = () => undefined;
    await transport.start();
    input.end('[{"id":{},"method":"x"},{"id":1.5,"method":"x"},7,null]\n{"id":null,"method":"x"}\n{"id":3}\n"text"\n');
    await closed;
  });

  it('waits for an answer to each of two requests with one id', async () => {
    const { transport, input, closed } = createTransport(new Sink());
    let isClosed = false;
    void closed.then(() => (isClosed = true));
    await transport.start();
    input.end(request(1) + request(1));
    await new Promise(setImmediate);
    await transport.send({ jsonrpc: '2.0', id: 1, error: { code: -32600, message: 'in flight' } });
    await new Promise(setImmediate);
    expect(isClosed).toBe(false);
    await transport.send(answer(1));
    await closed;
  });

  it('does not wait for answers to the members of a batch that was refused as a whole', async () => {
    const clock = new FakeClock();
    const { transport, input, closed } = createTransport(new Sink(), { clock });
    transport.onmessage = () => {
      void transport.send({ jsonrpc: '2.0', id: null, error: { code: -32600, message: 'no batch' } } as unknown as JsonRpcMessage);
    };
    await transport.start();
    input.end(`[${request(1).trim()},${request(2).trim()}]\n`);
    await closed;
  });

  it('waits for the answers to all members of a batch', async () => {
    const sink = new Sink();
    const { transport, input, closed } = createTransport(sink);
    transport.onmessage = () => undefined;
    await transport.start();
    input.end(`[${request(1).trim()},${request(2).trim()}]\n`);
    await once(input, 'end');
    await new Promise(setImmediate);
    await transport.send([answer(1), answer(2)] as unknown as JsonRpcMessage);
    await closed;
    expect(sink.writes).toHaveLength(1);
  });

  it('[ROBUSTNESS-5] closes when the output breaks, rejects sends, and survives a stream that goes on to fail', async () => {
    const sink = new Sink(true);
    const { transport, closed } = createTransport(sink);
    await transport.start();
    await transport.send(note(0));
    await new Promise(setImmediate);
    sink.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    await closed;
    await expect(transport.send(note(1))).rejects.toMatchObject({ code: 'ERR_CONNECTION_CLOSED' });
    sink.emit('error', new Error('again'));
  });

  it('[ROBUSTNESS-5] settles every send and closes once, whichever write fails', async () => {
    for (let failing = 1; failing <= 12; failing++) {
      let count = 0;
      const output = new Writable({
        decodeStrings: false,
        write: (_chunk, _encoding, done) => setImmediate(() => done(++count === failing ? new Error('write EIO') : null)),
      });
      const { transport } = createTransport(output, { maxQueuedBytes: 100 });
      let closeCount = 0;
      const closed = new Promise<void>((resolve) => {
        transport.onclose = () => {
          closeCount++;
          resolve();
        };
      });
      await transport.start();
      const outcomes: string[] = [];
      for (let n = 0; n < 20; n++) {
        outcomes.push(
          await transport.send(note(n)).then(
            () => 'taken',
            (error: { code: string }) => error.code,
          ),
        );
        await new Promise(setImmediate);
      }
      await closed;
      expect(closeCount).toBe(1);
      expect(outcomes.at(-1)).toBe('ERR_CONNECTION_CLOSED');
      // Nothing is taken any more once something was refused.
      expect(outcomes.lastIndexOf('taken')).toBeLessThan(outcomes.indexOf('ERR_CONNECTION_CLOSED'));
    }
  });

  it('reads what was still on its way in when the output broke', async () => {
    const sink = new Sink();
    const { transport, input, closed } = createTransport(sink);
    const received: unknown[] = [];
    transport.onmessage = (message: JsonRpcMessage) => void received.push(message);
    await transport.start();
    sink.destroy(new Error('write EPIPE'));
    input.write(`${JSON.stringify(note(1))}\n`);
    await closed;
    expect(received).toEqual([note(1)]);
  });

  it('[ROBUSTNESS-5] reports an input that breaks, and closes', async () => {
    const { transport, input, closed } = createTransport(new Sink());
    const errors: Error[] = [];
    transport.onerror = (error) => void errors.push(error);
    await transport.start();
    input.destroy(new Error('read ECONNRESET'));
    await closed;
    expect(errors.map((error) => error.message)).toEqual(['read ECONNRESET']);
  });

  it('closes at once when the input has ended before start', async () => {
    const input = new PassThrough();
    input.resume().end();
    await once(input, 'end');
    const transport = new StreamTransport(() => ({ input, output: new Sink() }));
    const closed = new Promise<void>((resolve) => {
      transport.onclose = resolve;
    });
    await transport.start();
    await closed;
  });

  it('reads a stream that somebody had paused, such as the transport before it', async () => {
    const [input, output] = [new PassThrough(), new Sink()];
    const first = new StreamTransport(() => ({ input, output }));
    await first.start();
    await first.close();
    const second = new StreamTransport(() => ({ input, output }));
    const received = new Promise((resolve) => {
      second.onmessage = resolve;
    });
    await second.start();
    input.write(`${JSON.stringify(note(1))}\n`);
    expect(await received).toEqual(note(1));
    await second.close();
  });

  it('rejects start with what opening rejects with, and can be closed', async () => {
    const transport = new StreamTransport(() => Promise.reject(new Error('no such socket')));
    await expect(transport.start()).rejects.toThrow('no such socket');
    await transport.close();
    await expect(transport.start()).rejects.toMatchObject({ code: 'ERR_CONNECTION_CLOSED' });
  });

  it('frees a channel that opens after close, and rejects start', async () => {
    let open: (() => void) | undefined;
    let isReleased = false;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const transport = new StreamTransport(async () => {
      await opened;
      return { input: new PassThrough(), output: new Sink(), release: () => void (isReleased = true) };
    });
    const starting = transport.start();
    const closing = transport.close();
    open?.();
    await expect(starting).rejects.toMatchObject({ code: 'ERR_CONNECTION_CLOSED' });
    await closing;
    expect(isReleased).toBe(true);
  });

  it('reports what release throws, and closes all the same', async () => {
    const errors: Error[] = [];
    const channel = { input: new PassThrough(), output: new Sink(), release: () => Promise.reject(new Error('could not free')) };
    const transport = new StreamTransport(() => channel);
    transport.onerror = (error) => void errors.push(error);
    await transport.start();
    await transport.close();
    expect(errors.map((error) => error.message)).toEqual(['could not free']);
  });

  it('leaves no listener of its own on streams that go on', async () => {
    const [input, output] = [new PassThrough(), new Sink()];
    const transport = new StreamTransport(() => ({ input, output }));
    await transport.start();
    await transport.close();
    expect(['data', 'end', 'close'].map((event) => input.listenerCount(event))).toEqual([0, 0, 0]);
    // Beside one that only ignores what breaks later.
    expect([input.listenerCount('error'), output.listenerCount('error')]).toEqual([1, 1]);
    expect(input.isPaused()).toBe(true);
  });

  it('rejects a message that JSON cannot carry, and sends the next one', async () => {
    const sink = new Sink();
    const { transport } = createTransport(sink);
    await transport.start();
    const bad = { jsonrpc: '2.0', method: 'note', params: { big: 1n } } as unknown as JsonRpcMessage;
    await expect(transport.send(bad)).rejects.toMatchObject({ code: 'ERR_SERIALIZE' });
    await transport.send(note(1));
    await transport.close();
    expect(sink.writes).toEqual([`${JSON.stringify(note(1))}\n`]);
  });
});
