/** What is different where the program's own server speaks TLS. */

import type { IncomingMessage } from 'node:http';
import { createServer, request, type RequestOptions, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { createHttpHandler, type HttpHandlerOptions } from '@mortise/transport-http/server';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { modernHeaders, modernRequest } from '../support/modern.ts';
import { aborted, ScriptedEndpoint, text, until } from '../support/scripted-endpoint.ts';

const LONG = 'x'.repeat(64 * 1024 * 1024);
/** A secret that both know, instead of a certificate. */
const psk = Buffer.alloc(32, 7);
const SERVER = { ciphers: 'PSK', maxVersion: 'TLSv1.2', pskCallback: () => psk } as const;
const CLIENT: RequestOptions & Pick<ConnectionOptions, 'pskCallback'> = {
  ciphers: 'PSK',
  maxVersion: 'TLSv1.2',
  pskCallback: () => ({ psk, identity: 'test' }),
  checkServerIdentity: () => undefined,
  agent: false,
};

let server: Server | undefined;
afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((resolve) => (server === undefined ? resolve(0) : server.close(resolve)));
  server = undefined;
});

/** Calls a tool, and reads nothing of its answer. */
async function callUnread(endpoint: ScriptedEndpoint, accept: string, options: HttpHandlerOptions) {
  const handler = createHttpHandler(endpoint, options);
  server = createServer(SERVER, (asked, response) => void handler.node(asked, response));
  const connection = new Promise<TLSSocket>((resolve) => server?.once('secureConnection', resolve));
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const message = modernRequest('tools/call', { name: 'long' });
  const headers = { ...modernHeaders(message), 'content-type': 'application/json', accept };
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const asking = request({ ...CLIENT, host: '127.0.0.1', port, path: '/mcp', method: 'POST', headers }, resolve);
    asking.on('error', reject).end(JSON.stringify(message));
  });
  answer.on('error', () => undefined);
  return { answer, socket: await connection };
}

/** Reads until the server's side has got on, which it does only once the buffers between have room again. */
async function takeSome({ answer, socket }: Awaited<ReturnType<typeof callUnread>>): Promise<void> {
  const before = socket.bytesWritten;
  answer.resume();
  await until(() => socket.bytesWritten > before + 1024 * 1024);
  answer.pause();
}

describe('over TLS, what is long and taken slowly', () => {
  it('keeps its stream for as long as its reader takes something, and loses it when it takes nothing', async () => {
    const [clock, endpoint] = [new FakeClock(), new ScriptedEndpoint()];
    endpoint.tools.set('long', async ({ call: served }) => {
      await Promise.race([
        served.send({ jsonrpc: '2.0', method: 'notifications/message', params: { data: LONG } }),
        aborted(served.signal),
      ]);
      await aborted(served.signal);
      return text('done');
    });
    const call = await callUnread(endpoint, 'application/json, text/event-stream', { clock, stallMs: 2000 });
    const isCut = (): boolean | undefined => endpoint.calls[0]?.isCancelled;
    for (let times = 0; times < 4; times++) {
      await takeSome(call);
      clock.advance(1000);
    }
    expect(isCut()).toBe(false);
    await until(() => {
      clock.advance(1000);
      return isCut() === true;
    });
  });

  it('keeps its answer for as long as its reader takes something, and loses it when it takes nothing', async () => {
    const [clock, endpoint] = [new FakeClock(), new ScriptedEndpoint()];
    endpoint.tools.set('long', () => text(LONG));
    const call = await callUnread(endpoint, 'application/json', { clock, stallMs: 2000 });
    for (let times = 0; times < 4; times++) {
      await takeSome(call);
      clock.advance(1000);
    }
    expect(call.socket.destroyed).toBe(false);
    await until(() => {
      clock.advance(1000);
      return call.socket.destroyed;
    });
  });
});
