/** Bodies that are still arriving are bounded in sum: in all, and by whoever sends them. */

import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { createHttpHandler, type HttpHandlerOptions } from '@mortise/transport-http/server';
import { initializeRequest } from '../support/legacy-client.ts';
import { modernTool } from '../support/modern.ts';
import type { Answer } from '../support/send.ts';
import { type FaceName, FACES, serve, type Serving } from '../support/serve.ts';
import { ScriptedEndpoint, until } from '../support/scripted-endpoint.ts';

const LONG = 90_000;
const OPTIONS: HttpHandlerOptions = {
  maxBodyBytes: 100_000,
  maxPendingBodyBytes: 250_000,
  maxPendingBodyBytesPerKey: 150_000,
  limitKey: (subject) => subject.header('x-who') ?? '',
};

let serving: Serving;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await serving.close();
});

async function start(face: FaceName, options: HttpHandlerOptions = {}): Promise<void> {
  serving = await serve(face, new ScriptedEndpoint(), { ...OPTIONS, ...options });
}

/** Sends all of a body but its end, and gives the connection once the server has that. */
async function stall(who: string): Promise<Socket> {
  const body = JSON.stringify(initializeRequest()).slice(0, -1).padEnd(LONG);
  const head = `POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\nx-who: ${who}\r\ncontent-length: ${LONG + 1}\r\n\r\n`;
  const incoming = new Promise<Socket>((resolve) => serving.server.once('connection', resolve));
  const socket = connect(serving.port, '127.0.0.1');
  sockets.push(socket.on('error', () => undefined));
  const connection = await incoming;
  socket.write(head + body);
  await until(() => connection.bytesRead === head.length + LONG);
  return socket;
}

function call(who: string, length: number): Promise<Answer> {
  return modernTool(serving.port, 'echo', { long: 'x'.repeat(length) }, { 'x-who': who });
}

describe.each(FACES)('bodies that are still arriving over the %s face', (face) => {
  it('[ROBUSTNESS-7] refuses the long ones of one sender past their sum, and no short one', async () => {
    await start(face);
    const socket = await stall('ann');
    const refused = await call('ann', LONG);
    expect([refused.status, refused.headers['retry-after'], await refused.json()]).toMatchObject([
      503,
      '5',
      { error: { code: -32603, message: 'Too much is being sent at once: come back later' } },
    ]);
    expect([(await call('ann', 10_000)).status, (await call('bob', LONG)).status]).toEqual([200, 200]);
    const answered = new Promise<string>((resolve) => socket.once('data', (data) => resolve(data.toString())));
    socket.write('}');
    expect(await answered).toContain('200 OK');
    expect((await call('ann', LONG)).status).toBe(200);
  });

  it('[ROBUSTNESS-7] refuses long ones past the sum of all', async () => {
    await start(face);
    await stall('ann');
    await stall('bob');
    expect([(await call('cid', LONG)).status, (await call('cid', 10_000)).status]).toEqual([503, 200]);
  });

  it('[ROBUSTNESS-7] counts out one that broke off or took too long', async () => {
    const clock = new FakeClock();
    await start(face, { clock, bodyTimeoutMs: 1_000 });
    const incoming = new Promise<Socket>((resolve) => serving.server.once('connection', resolve));
    const socket = await stall('ann');
    const gone = incoming.then((connection) => new Promise((resolve) => connection.once('close', resolve)));
    socket.destroy();
    await gone;
    expect((await call('ann', LONG)).status).toBe(200);
    const slow = await stall('ann');
    const timedOut = new Promise<string>((resolve) => slow.once('data', (data) => resolve(data.toString())));
    await clock.advance(1_500);
    expect(await timedOut).toContain('408');
    expect((await call('ann', LONG)).status).toBe(200);
  });
});

describe('the bounds of bodies that are still arriving', () => {
  it('[ROBUSTNESS-7] hold for a web request that is read as a whole', async () => {
    await start('fetch');
    const sent = new AbortController();
    const request = (): Request =>
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'content-length': '60000' },
        body: new ReadableStream({
          start: (controller) => sent.signal.addEventListener('abort', () => controller.error(new Error('gone'))),
        }),
        duplex: 'half',
      } as RequestInit);
    const pending = [serving.handler.fetch(request()), serving.handler.fetch(request())];
    expect((await serving.handler.fetch(request())).status).toBe(503);
    sent.abort();
    expect((await Promise.all(pending)).map(({ status }) => status)).toEqual([400, 400]);
    expect((await call('', LONG)).status).toBe(200);
  });

  it.each(['maxPendingBodyBytes', 'maxPendingBodyBytesPerKey'])('leave room for one body: %s', async (name) => {
    await start('node');
    expect(() => createHttpHandler(new ScriptedEndpoint(), { maxBodyBytes: 2_000, [name]: 1_000 })).toThrow(
      expect.objectContaining({ code: 'ERR_HTTP_OPTION', message: expect.stringContaining(name) }),
    );
  });
});
