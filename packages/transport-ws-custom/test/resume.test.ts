/** `mortise.resume.v1`: a connection that breaks and goes on. */

import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { JsonRpcMessage } from '@mortise/jsonrpc-core';
import type { TokenVerifier } from '@mortise/protocol/contracts';
import { McpServer } from '@mortise/server';
import { webSocketTransport } from '@mortise/transport-ws-custom/client';
import { resumeOnClient, resumeOnServer } from '@mortise/transport-ws-custom/resume';
import type { WebSocketServing } from '@mortise/transport-ws-custom/server';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { closeLater, connect, createFeatureServer, serve } from './support/feature-server.ts';

/** Every socket that a server has, so that a test can cut them. */
function watchSockets({ httpServer }: WebSocketServing): { cut(): number; readonly opened: number } {
  const sockets = new Set<Socket>();
  let opened = 0;
  httpServer.on('upgrade', (_request, socket) => {
    opened++;
    sockets.add(socket as Socket);
    socket.on('close', () => sockets.delete(socket as Socket));
  });
  return {
    cut() {
      const { size } = sockets;
      for (const socket of sockets) socket.destroy();
      return size;
    },
    get opened() {
      return opened;
    },
  };
}

/** A server whose tool says its steps as progress, slowly enough to be cut in between. */
function createSteps(): { server: McpServer; runs: string[] } {
  const runs: string[] = [];
  const server = new McpServer({ name: 'steps', version: '1.0.0' });
  const input = { name: z.string(), steps: z.number().int() };
  server.registerTool('steps', { inputSchema: input }, async ({ name, steps }, ctx) => {
    runs.push(name);
    for (let step = 1; step <= steps; step++) {
      await ctx.progress(step, steps);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return `${name} done`;
  });
  return { server, runs };
}

/** The same numbers for the same seed. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32;
  };
}

describe.each(['modern', 'legacy'] as const)('a connection that breaks, %s', (era) => {
  it('loses nothing and doubles nothing in a hundred breaks at random moments', async () => {
    const seed = Number(process.env['MORTISE_SEED'] ?? 20_261_123);
    const random = createRandom(seed);
    const { server, runs } = createSteps();
    const serving = await serve(server, { resume: resumeOnServer() });
    const sockets = watchSockets(serving);
    const client = await connect(serving.url, { era }, { resume: resumeOnClient() });
    let cuts = 0;
    for (let round = 0; cuts < 100; round++) {
      const steps: number[] = [];
      const cutAt = 1 + Math.floor(random() * 20);
      const call = client.callTool(
        'steps',
        { name: `call ${round}`, steps: 20 },
        {
          onProgress: ({ progress }) => {
            steps.push(progress);
            if (progress === cutAt) cuts += sockets.cut();
          },
        },
      );
      // In the other direction, too: messages of the client that are on their way.
      const beside = client.callTool('steps', { name: `beside ${round}`, steps: 1 });
      if (random() < 0.5) setImmediate(() => void (cuts += sockets.cut()));
      expect((await call).content).toEqual([{ type: 'text', text: `call ${round} done` }]);
      expect((await beside).content).toEqual([{ type: 'text', text: `beside ${round} done` }]);
      expect(steps, `seed ${seed}, round ${round}`).toEqual([...new Set(steps)].toSorted((one, other) => one - other));
      expect(steps).toContain(cutAt);
      expect(runs.splice(0).toSorted()).toEqual([`beside ${round}`, `call ${round}`]);
    }
    expect(sockets.opened).toBeGreaterThan(50);
  });

  it('keeps a subscription open, and tells what happened while it was broken', async () => {
    const { server } = createFeatureServer();
    const serving = await serve(server, { resume: resumeOnServer() });
    const sockets = watchSockets(serving);
    const client = await connect(serving.url, { era }, { resume: resumeOnClient() });
    const events = client.listen({ toolsListChanged: true })[Symbol.asyncIterator]();
    await events.next();
    // In the legacy era the server says nothing before it has read that the client is ready.
    await client.callTool('add', { a: 1, b: 1 });
    sockets.cut();
    server.registerTool('later', {}, () => 'x');
    expect((await events.next()).value?.method).toBe('notifications/tools/list_changed');
    expect(sockets.opened).toBe(2);
  });
});

/** A client by hand. */
async function open(url: string, hello: string, headers: Record<string, string> = {}): Promise<{ ws: WebSocket; frames: string[] }> {
  const ws = new WebSocket(url, ['mcp', 'mortise.resume.v1'], { perMessageDeflate: false, headers });
  closeLater(() => ws.terminate());
  const frames: string[] = [];
  ws.on('message', (data: Buffer) => frames.push(data.toString()));
  await once(ws, 'open');
  ws.send(hello);
  return { ws, frames };
}

async function nextFrame({ ws, frames }: { ws: WebSocket; frames: string[] }): Promise<string> {
  while (frames.length === 0) await once(ws, 'message');
  return frames.shift() ?? '';
}

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

async function openChannel(url: string, headers?: Record<string, string>): Promise<{ ws: WebSocket; frames: string[]; channel: string }> {
  const opened = await open(url, '!{"channel":null}', headers);
  const { channel } = JSON.parse((await nextFrame(opened)).slice(1)) as { channel: string };
  return { ...opened, channel };
}

/** Tries to resume each channel. @returns For each, that it goes on, or the close code of the refusal. */
async function resumeAll(
  url: string,
  channels: readonly { readonly channel: string; readonly headers?: Record<string, string> }[],
): Promise<(number | 'goes on')[]> {
  const outcomes: (number | 'goes on')[] = [];
  for (const { channel, headers } of channels) {
    const { ws } = await open(url, `!{"channel":"${channel}","received":0}`, headers);
    const refusal = once(ws, 'close').then(([code]) => code as number);
    outcomes.push(await Promise.race([once(ws, 'message').then(() => 'goes on' as const), refusal]));
  }
  return outcomes;
}

describe('a channel', () => {
  it('is agreed on only where both sides were given it', async () => {
    const { server } = createFeatureServer();
    const [plain, resumable] = [await serve(server), await serve(server, { resume: resumeOnServer() })];
    const protocolOf = async (url: string, offered: string[]): Promise<string> => {
      const ws = new WebSocket(url, offered);
      closeLater(() => ws.terminate());
      await once(ws, 'open');
      return ws.protocol;
    };
    expect(await protocolOf(plain.url, ['mcp', 'mortise.resume.v1'])).toBe('mcp');
    expect(await protocolOf(resumable.url, ['mcp', 'mortise.resume.v1'])).toBe('mortise.resume.v1');
    expect(await protocolOf(resumable.url, ['mcp'])).toBe('mcp');
    const client = await connect(resumable.url);
    watchSockets(resumable);
    expect((await client.callTool('add', { a: 1, b: 1 })).structuredContent).toEqual({ sum: 2 });
  });

  it('has an id that nobody guesses', async () => {
    const { url } = await serve(createFeatureServer().server, { resume: resumeOnServer() });
    const [one, other] = [await openChannel(url), await openChannel(url)];
    expect(one.channel).toMatch(/^[A-Za-z0-9_-]{32}$/);
    expect(other.channel).not.toBe(one.channel);
  });

  it('is given again what was not acknowledged, and nothing that was', async () => {
    const { url } = await serve(createFeatureServer().server, { resume: resumeOnServer() });
    const first = await openChannel(url);
    for (let id = 1; id <= 3; id++) first.ws.send(PING.replace('"id":1', `"id":${id}`));
    const answers = [await nextFrame(first), await nextFrame(first), await nextFrame(first)];
    first.ws.send('!{"ack":1}');
    first.ws.terminate();
    const second = await open(url, `!{"channel":"${first.channel}","received":2}`);
    expect(JSON.parse((await nextFrame(second)).slice(1))).toMatchObject({ channel: first.channel, received: 3 });
    expect(await nextFrame(second)).toBe(answers[2]);
    // The first message is gone for good: who asks for it again has lost the channel.
    const third = await open(url, `!{"channel":"${first.channel}","received":0}`);
    expect((await once(third.ws, 'close'))[0]).toBe(4404);
  });

  it("[ROBUSTNESS-8] is nobody else's: another principal gets the answer for channels that do not exist", async () => {
    const tokenVerifier: TokenVerifier = { verify: async ({ token = '' }) => ({ principal: token, scopes: [] }) };
    const { url } = await serve(createFeatureServer().server, { resume: resumeOnServer(), tokenVerifier });
    const own = await openChannel(url, { authorization: 'Bearer ada' });
    for (const [channel, token] of [
      [own.channel, 'eve'],
      ['x'.repeat(32), 'ada'],
    ] as const) {
      const other = await open(url, `!{"channel":"${channel}","received":0}`, { authorization: `Bearer ${token}` });
      const [code, reason] = (await once(other.ws, 'close')) as [number, Buffer];
      expect([code, reason.toString()]).toEqual([4404, 'there is no such channel']);
    }
    own.ws.send(PING);
    expect(JSON.parse(await nextFrame(own))).toMatchObject({ id: 1 });
  });

  it('takes the newest socket where two say that they are it', async () => {
    const { url } = await serve(createFeatureServer().server, { resume: resumeOnServer() });
    const first = await openChannel(url);
    const second = await open(url, `!{"channel":"${first.channel}","received":0}`);
    expect((await once(first.ws, 'close'))[0]).toBe(1006);
    await nextFrame(second);
    second.ws.send(PING);
    expect(JSON.parse(await nextFrame(second))).toMatchObject({ id: 1 });
  });

  it('ends with an error that says so when the server does not know it any more', async () => {
    const { server } = createFeatureServer();
    let callers = 0;
    const tokenVerifier = { verify: async () => ({ principal: `caller ${++callers}`, scopes: [] }) };
    const serving = await serve(server, { resume: resumeOnServer(), tokenVerifier });
    const sockets = watchSockets(serving);
    const client = await connect(serving.url, { era: 'modern' }, { resume: resumeOnClient() });
    const waiting = client.callTool('wait', {}, { onProgress: () => void sockets.cut() });
    await expect(waiting).rejects.toMatchObject({
      code: 'ERR_CONNECTION_LOST',
      cause: { cause: { code: 'ERR_SOCKET_CLOSED', closeCode: 4404 } },
    });
    expect((await client.callTool('add', { a: 2, b: 2 })).structuredContent).toEqual({ sum: 4 });
  });

  it('[ROBUSTNESS-7] keeps as many that wait as it may, the newest', async () => {
    const serving = await serve(createFeatureServer().server, { resume: resumeOnServer({ maxWaiting: 2 }) });
    const channels = [];
    for (let n = 0; n < 3; n++) channels.push(await openChannel(serving.url));
    for (const [index, { ws }] of channels.entries()) {
      ws.terminate();
      // The server has noticed, too: they begin to wait in this order.
      while (serving.count > channels.length - 1 - index) await new Promise((resolve) => setImmediate(resolve));
    }
    const answers = await resumeAll(serving.url, channels);
    expect(answers).toEqual([4404, 'goes on', 'goes on']);
  });

  it('[ROBUSTNESS-7][ROBUSTNESS-17] keeps at most 64 MiB of messages for all that wait, and those of others than the one with the most', async () => {
    const { server } = createFeatureServer();
    server.registerTool('big', {}, () => 'x'.repeat(7 * 1024 * 1024));
    const tokenVerifier: TokenVerifier = { verify: async ({ token = '' }) => ({ principal: token, scopes: [] }) };
    const serving = await serve(server, { resume: resumeOnServer(), tokenVerifier });
    const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };
    const opened = [];
    for (const name of ['ada', ...Array.from({ length: 10 }, () => 'eve')]) {
      const headers = { authorization: `Bearer ${name}` };
      const { ws, channel } = await openChannel(serving.url, headers);
      opened.push({ channel, headers });
      const answered = once(ws, 'message');
      ws.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'big', _meta } }));
      await answered;
      ws.terminate();
      while (serving.count > 0) await new Promise((resolve) => setImmediate(resolve));
    }
    const answers = await resumeAll(serving.url, opened);
    expect(answers).toEqual(['goes on', 4404, 4404, ...Array.from({ length: 8 }, () => 'goes on')]);
  });

  it('[ROBUSTNESS-8] lets the channels of one who breaks many push out their own, and nobody else’s', async () => {
    const tokenVerifier: TokenVerifier = { verify: async ({ token = '' }) => ({ principal: token, scopes: [] }) };
    const serving = await serve(createFeatureServer().server, { resume: resumeOnServer({ maxWaiting: 2 }), tokenVerifier });
    const opened = [];
    for (const name of ['ada', 'eve', 'eve', 'eve']) {
      const headers = { authorization: `Bearer ${name}` };
      const { ws, channel } = await openChannel(serving.url, headers);
      opened.push({ channel, headers });
      ws.terminate();
      while (serving.count > 0) await new Promise((resolve) => setImmediate(resolve));
    }
    const answers = await resumeAll(serving.url, opened);
    expect(answers).toEqual(['goes on', 4404, 4404, 'goes on']);
  });

  it('[ROBUSTNESS-5] survives any first frame and any control frame', async () => {
    const serving = await serve(createFeatureServer().server, { resume: resumeOnServer() });
    const frame = fc.oneof(
      fc.string().map((text) => `!${text}`),
      fc.json().map((text) => `!${text}`),
      fc.record({ channel: fc.anything(), received: fc.anything() }).map((value) => `!${JSON.stringify(value)}`),
      fc.record({ ack: fc.oneof(fc.integer(), fc.double(), fc.string()) }).map((value) => `!${JSON.stringify(value)}`),
      fc.constant(PING),
    );
    await fc.assert(
      fc.asyncProperty(frame, fc.array(frame, { maxLength: 3 }), async (first, more) => {
        const { ws } = await open(serving.url, first);
        for (const text of more) ws.send(text);
        ws.close();
        await once(ws, 'close');
      }),
      { numRuns: 150 },
    );
    const client = await connect(serving.url);
    expect((await client.callTool('add', { a: 1, b: 2 })).structuredContent).toEqual({ sum: 3 });
  });
});

describe('the client', () => {
  it('[ROBUSTNESS-10] goes on at once, and then ever more calmly, until it is told no', async () => {
    const { server } = createFeatureServer();
    const serving = await serve(server, { resume: resumeOnServer() });
    const sockets = watchSockets(serving);
    const transport = webSocketTransport(serving.url, { resume: resumeOnClient() });
    const messages: JsonRpcMessage[] = [];
    transport.onmessage = (message: JsonRpcMessage) => void messages.push(message);
    const closed = new Promise<void>((resolve) => {
      transport.onclose = resolve;
    });
    const errors: Error[] = [];
    transport.onerror = (error) => void errors.push(error);
    await transport.start();
    await serving.close({ drainMs: 0 });
    await closed;
    expect(errors).toMatchObject([{ code: 'ERR_SOCKET_CLOSED', closeCode: 1001 }]);
    expect(sockets.opened).toBe(1);
  });
});
