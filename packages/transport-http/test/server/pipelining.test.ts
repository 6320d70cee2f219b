/** Requests that come before the answers to those ahead of them are out, on one connection of `node:http`. */

import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { modernHeaders, modernRequest } from '../support/modern.ts';
import { serve, type Serving } from '../support/serve.ts';
import { aborted, gate, ScriptedEndpoint, text, until } from '../support/scripted-endpoint.ts';
import { countOwnMs } from '../../../../scripts/test/cpu-time.ts';

const MOST_AT_ONCE = 17;
/** Those, and 256 that wait for their turn. */
const MOST = MOST_AT_ONCE + 256;

let serving: Serving;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await serving.close();
});

/** Opens a connection and sends calls of one tool over it, all in one piece. */
function pipeline(name: string, count: number): Socket {
  const socket = connect(serving.port, '127.0.0.1').on('error', () => undefined);
  sockets.push(socket);
  socket.write(Array.from({ length: count }, (_, id) => toWire(name, id)).join(''));
  return socket;
}

function toWire(name: string, id: number): string {
  const request = modernRequest('tools/call', { name }, id);
  const body = JSON.stringify(request);
  const headers = {
    host: '127.0.0.1',
    'content-type': 'application/json',
    accept: 'application/json',
    'content-length': String(body.length),
    ...modernHeaders(request),
  };
  const lines = Object.entries(headers).map(([key, value]) => `${key}: ${value}`);
  return `POST /mcp HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
}

function incoming(): Promise<Socket> {
  return new Promise((resolve) => serving.server.once('connection', resolve));
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()));
}

describe('requests that are pipelined on one connection', () => {
  it('[ROBUSTNESS-7] are served a few at a time, and answered all and in order', async () => {
    const endpoint = new ScriptedEndpoint();
    const go = gate();
    let [running, most] = [0, 0];
    endpoint.tools.set('wait', async () => {
      most = Math.max(most, ++running);
      await go.promise;
      running--;
      return text('done');
    });
    serving = await serve('node', endpoint);
    const socket = pipeline('wait', MOST);
    let raw = '';
    socket.on('data', (chunk) => (raw += String(chunk)));
    const ids = (): number[] => [...raw.matchAll(/"id":(\d+)/g)].map(([, id]) => Number(id));
    await until(() => running === MOST_AT_ONCE);
    go.open();
    await until(() => ids().length === MOST);
    expect([most, ids()]).toEqual([MOST_AT_ONCE, Array.from({ length: MOST }, (_, id) => id)]);
  });

  it('[ROBUSTNESS-7] are cut where they are more than any client has reason to send', async () => {
    const endpoint = new ScriptedEndpoint();
    let stopped = 0;
    endpoint.tools.set('wait', async ({ call }) => {
      await aborted(call.signal);
      stopped++;
      return text('late');
    });
    serving = await serve('node', endpoint);
    const socket = pipeline('wait', MOST + 1);
    await closed(socket);
    await until(() => serving.handler.counts.calls === 0);
    expect(stopped).toBe(MOST_AT_ONCE);
  });

  it('[ROBUSTNESS-7][ROBUSTNESS-9] are cut where nothing is taken of their answers, however short each is', async () => {
    const endpoint = new ScriptedEndpoint();
    endpoint.tools.set('page', () => text('x'.repeat(60_000)));
    serving = await serve('node', endpoint, { stallMs: 200 });
    const connection = incoming();
    pipeline('page', 270).pause();
    const socket = await connection;
    await closed(socket);
    // More than the buffers of loopback take, and none of the answers is long enough to be watched by itself.
    expect(socket.bytesWritten).toBeLessThan(270 * 60_000);
  });

  it.each([Infinity, 2 ** 31])('[ROBUSTNESS-7] are looked at no more often where they may take %d ms', async (stallMs) => {
    const warnings: string[] = [];
    const note = ({ name }: Error): void => void warnings.push(name);
    process.on('warning', note);
    const endpoint = new ScriptedEndpoint();
    const go = gate();
    let running = 0;
    endpoint.tools.set('wait', async () => {
      running++;
      await go.promise;
      return text('done');
    });
    serving = await serve('node', endpoint, { stallMs });
    const socket = pipeline('wait', 4);
    let raw = '';
    socket.on('data', (chunk) => (raw += String(chunk)));
    await until(() => running === 4);
    go.open();
    await until(() => raw.split('"id":').length === 5);
    process.off('warning', note);
    // Of a timer that takes no such time, and fires each millisecond instead.
    expect(warnings).toEqual([]);
  });

  it('[ROBUSTNESS-9] hear all of them that their client has left', async () => {
    const endpoint = new ScriptedEndpoint();
    const stopped: number[] = [];
    let started = 0;
    let ownMs = (): number => 0;
    endpoint.tools.set('wait', async ({ call }) => {
      started++;
      await aborted(call.signal);
      stopped.push(ownMs());
      return text('late');
    });
    serving = await serve('node', endpoint);
    const socket = pipeline('wait', 30);
    await until(() => started === MOST_AT_ONCE);
    ownMs = countOwnMs();
    socket.destroy();
    await until(() => stopped.length === MOST_AT_ONCE);
    expect([...stopped].sort((a, b) => a - b)[MOST_AT_ONCE >> 1]).toBeLessThan(100);
    await until(() => serving.handler.counts.calls === 0);
    expect(started).toBe(MOST_AT_ONCE);
  });
});
