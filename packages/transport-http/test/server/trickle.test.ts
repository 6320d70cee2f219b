/** Peers that send or take next to nothing: what they cost is bounded. */

import { connect, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, it } from 'vitest';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { createHttpHandler } from '@mortise/transport-http/server';
import { FACES, modernHeaders, modernRequest, serve, type Serving } from '../support/http-client.ts';
import { ScriptedEndpoint, until } from '../support/scripted-endpoint.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const MIB = 1024 * 1024;

function heldBytes(): number {
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

let serving: Serving | undefined;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await serving?.close();
  serving = undefined;
});

describe.each(FACES)('a body that comes byte by byte, over the %s face', (face) => {
  it('[ROBUSTNESS-7] takes what it is long, and no hundred times that', async () => {
    serving = await serve(face, new ScriptedEndpoint());
    const incoming = new Promise<Socket>((resolve) => serving?.server.once('connection', resolve));
    const socket = connect(serving.port, '127.0.0.1');
    sockets.push(socket.on('error', () => undefined));
    const head = 'POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n';
    socket.write(head);
    const connection = await incoming;
    const before = heldBytes();
    const pieces = '1\r\n \r\n'.repeat(300_000);
    socket.write(pieces);
    await until(() => connection.bytesRead === head.length + pieces.length);
    // Not at once: what has been read passes through the platform's own queues.
    await until(() => heldBytes() - before < 8 * MIB, 'a held body that takes less than 8 MiB');
  });
});

describe('a web request whose body stops', () => {
  it('[ROBUSTNESS-9] is let go of with its 408', async () => {
    const clock = new FakeClock();
    const handler = createHttpHandler(new ScriptedEndpoint(), { clock, bodyTimeoutMs: 30_000 });
    const request = modernRequest('tools/call', { name: 'echo' });
    let isCancelled = false;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"json')),
      cancel: () => {
        isCancelled = true;
      },
    });
    const headers = { 'content-type': 'application/json', accept: 'application/json', ...modernHeaders(request) };
    const answer = handler.fetch(new Request('http://localhost/mcp', { method: 'POST', headers, body, duplex: 'half' } as RequestInit));
    await clock.untilScheduled();
    clock.advance(30_250);
    expect([(await answer).status, isCancelled]).toEqual([408, true]);
    await handler.close();
  });
});
