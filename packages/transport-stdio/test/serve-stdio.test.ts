import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import type { Connectable } from '@mortise/jsonrpc-core';
import { Connection } from '@mortise/jsonrpc-core/connection';
import { serveStdio, type ServeStdioOptions, StdioServerTransport } from '@mortise/transport-stdio/server';
import { describe, expect, it } from 'vitest';
import { CountingClock } from './counting-clock.ts';

const echo: Connectable = {
  async connect(transport) {
    const connection = new Connection(transport, { onRequest: ({ id, params = {} }) => ({ jsonrpc: '2.0', id, result: params }) });
    await connection.start();
    return connection;
  },
};

function createStreams(): { stdin: PassThrough; stdout: PassThrough } {
  return { stdin: new PassThrough(), stdout: new PassThrough() };
}

describe('serveStdio', () => {
  it('serves streams that it is given, and leaves the process alone', async () => {
    const signals = (): number[] => ['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => process.listenerCount(signal));
    const before = { signals: signals(), write: process.stdout.write };
    const { stdin, stdout } = createStreams();
    const serving = await serveStdio(echo, { stdin, stdout });
    expect({ signals: signals(), write: process.stdout.write }).toEqual(before);
    stdin.write('{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":1}}\n');
    const [chunk] = (await once(stdout, 'data')) as [Buffer];
    expect(chunk.toString()).toBe('{"jsonrpc":"2.0","id":1,"result":{"a":1}}\n');
    stdin.end();
    await serving.closed;
    expect(stdout.writableEnded).toBe(true);
  });

  it('tells its logger of lines that are no message, with their start, and hands the logger to the server', async () => {
    const logged: unknown[] = [];
    const logger = {
      log: (level: string, message: string, data?: Readonly<Record<string, unknown>>) => void logged.push([level, message, data]),
    };
    let offered: unknown;
    const streams = createStreams();
    const server: Connectable = {
      connect: (transport, options) => {
        offered = options?.logger;
        return echo.connect(transport);
      },
    };
    const serving = await serveStdio(server, { ...streams, logger });
    expect(offered).toBe(logger);
    streams.stdin.write(`Listening on port 3000 ${'x'.repeat(200)}\n`);
    await once(streams.stdout, 'data');
    const error = expect.objectContaining({ message: expect.stringMatching(/begins with "Listening on port 3000 x{57}":/) });
    expect(logged).toEqual([['warning', 'The stdio transport reported an error', { error }]]);
    await serving.close();
  });

  it.each([
    { what: 'in a terminal', isTTY: true, says: [['warning', expect.stringContaining('Waiting for an MCP client on standard input')]] },
    { what: 'started by a client', isTTY: undefined, says: [] },
  ])('says $what $says.length times what it waits for', async ({ isTTY, says }) => {
    const logged: unknown[] = [];
    const streams = createStreams();
    const stdin = Object.assign(streams.stdin, { isTTY });
    const logger = { log: (level: string, message: string) => void logged.push([level, message]) };
    const serving = await serveStdio(echo, { ...streams, stdin, logger });
    expect(logged).toEqual(says);
    await serving.close();
  });

  it('closes when it is told, when its signal aborts, and at the end of its scope', async () => {
    const first = await serveStdio(echo, createStreams());
    await first.close();
    await first.closed;
    const controller = new AbortController();
    const second = await serveStdio(echo, { ...createStreams(), signal: controller.signal });
    controller.abort();
    await second.closed;
    const third = await serveStdio(echo, createStreams());
    await third[Symbol.asyncDispose]();
    await third.closed;
  });

  it('listens for signals on streams of its own only where it is asked to', async () => {
    const before = process.listenerCount('SIGUSR2');
    const serving = await serveStdio(echo, { ...createStreams(), signals: ['SIGUSR2'], exitWhenDone: false });
    expect(process.listenerCount('SIGUSR2')).toBe(before + 1);
    process.kill(process.pid, 'SIGUSR2');
    await serving.closed;
    expect(process.listenerCount('SIGUSR2')).toBe(before);
  });

  it.for([undefined, null, {}])('refuses to serve %s, which is no server', async (nothing) => {
    await expect(serveStdio(nothing as unknown as Connectable, createStreams())).rejects.toThrow('the given value is not a server');
  });

  it.for([-1, 501, Number.NaN])('refuses a drainMs of %s', async (drainMs) => {
    await expect(serveStdio(echo, { ...createStreams(), drainMs })).rejects.toThrow(
      /^serveStdio options: "drainMs" must be (a number, 0 or more|from 0 to 500), got (-1|501|NaN)$/,
    );
  });

  it('closes when its signal aborts while the server connects', async () => {
    const controller = new AbortController();
    const slow: Connectable = {
      async connect(transport) {
        const connection = await echo.connect(transport);
        controller.abort();
        return connection;
      },
    };
    const serving = await serveStdio(slow, { ...createStreams(), signal: controller.signal });
    await serving.closed;
  });

  it('gives everything back when the server refuses to connect', async () => {
    const streams = createStreams();
    const refusing: Connectable = {
      async connect(transport) {
        await transport.start();
        throw new Error('not today');
      },
    };
    await expect(serveStdio(refusing, streams)).rejects.toThrow('not today');
    expect(streams.stdin.listenerCount('data')).toBe(0);
    expect(streams.stdout.writableEnded).toBe(true);
  });

  it('rejects with the reason of a signal that is aborted already', async () => {
    const options: ServeStdioOptions = { ...createStreams(), signal: AbortSignal.abort(new Error('not today')) };
    await expect(serveStdio(echo, options)).rejects.toThrow('not today');
  });
});

describe('StdioServerTransport', () => {
  it('keeps a second transport off the standard streams of the process until the first is closed', async () => {
    const { stdin } = createStreams();
    const [first, second] = [new StdioServerTransport(stdin, process.stdout), new StdioServerTransport(stdin, process.stdout)];
    await first.start();
    await expect(second.start()).rejects.toMatchObject({
      code: 'ERR_ALREADY_STARTED',
      message: expect.stringContaining('standard streams') as string,
    });
    await first.close();
    const third = new StdioServerTransport(stdin, process.stdout);
    await third.start();
    await third.close();
  });

  it('leaves no timer when it is closed, on the standard streams of the process', async () => {
    const clock = new CountingClock();
    const transport = new StdioServerTransport(new PassThrough(), process.stdout, { clock });
    await transport.start();
    expect(clock.running).toBe(1);
    await transport.close();
    expect(clock.running).toBe(0);
  });
});
