/** Stands between a client and a server, and cuts connections in the middle of an event stream, after a number of bytes of its own choice. */

import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** Numbers from 0 to below 1 that a seed fixes (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Where cuts may fall: from the first byte of a stream's head on. */
export interface CutPlan {
  readonly random: () => number;
  /** How many connections are cut in all. */
  readonly cuts: number;
  /** A stream is cut before this many bytes, if it is that long. */
  readonly withinBytes: number;
}

export class CuttingProxy {
  /** How many connections were cut. */
  cutCount = 0;
  /** How many of them before the stream's first event was complete, so that the client has nothing to go on from. */
  earlyCount = 0;
  readonly #server: Server;
  readonly #plan: CutPlan;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server, plan: CutPlan) {
    this.#server = server;
    this.#plan = plan;
  }

  static async listen(port: number, plan: CutPlan): Promise<CuttingProxy> {
    const server = createServer();
    const proxy = new CuttingProxy(server, plan);
    server.on('connection', (down) => proxy.#join(down, port));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/mcp`;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #join(down: Socket, port: number): void {
    const up = connect(port, '127.0.0.1');
    for (const socket of [down, up]) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => this.#sockets.delete(socket));
    }
    down.on('close', () => up.destroy());
    // What was let through still arrives: `end` comes after it, where `destroy` might overtake it.
    up.on('close', () => down.end());
    down.pipe(up);
    let stream: OpenStream | undefined;
    up.on('data', (chunk: Buffer) => {
      if (down.writableEnded) return;
      if (/^HTTP[^]*content-type: text\/event-stream/i.test(chunk.subarray(0, 1024).toString('latin1'))) stream = this.#begin();
      if (stream === undefined) return void down.write(chunk);
      const rest = stream.cutAfter - stream.text.length;
      if (chunk.length <= rest || this.cutCount >= this.#plan.cuts) {
        stream.text += chunk.toString('latin1');
        // The last chunk of a body: what follows is another answer.
        if (stream.text.endsWith('\r\n0\r\n\r\n')) stream = undefined;
        return void down.write(chunk);
      }
      const kept = chunk.subarray(0, rest);
      stream.text += kept.toString('latin1');
      this.#cut(stream);
      up.destroy();
      down.end(kept);
    });
  }

  #begin(): OpenStream {
    const { random, withinBytes } = this.#plan;
    return { text: '', cutAfter: Math.floor(random() * withinBytes) };
  }

  #cut({ text }: OpenStream): void {
    this.cutCount++;
    const body = text.split('\r\n\r\n').slice(1).join('\r\n\r\n');
    if (!/id: [^\n]*\n(?:[^\n]+\n)*\n/.test(body)) this.earlyCount++;
  }
}

interface OpenStream {
  text: string;
  readonly cutAfter: number;
}
