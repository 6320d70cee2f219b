/** A host for the tests of the adapters, and a scripted model behind HTTP. */

import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import type { Host, HostOptions } from '../../src/index.ts';
import { makeServer, openHost, reach } from '../servers.ts';

/** A PNG of one pixel. */
export const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

export interface Lab {
  readonly host: Host;
  /** Resolves once the tool `wait` runs, and once it was cancelled. */
  readonly waiting: Promise<unknown>;
  readonly cancelled: Promise<unknown>;
}

/** Opens a host with one server, `lab`, whose tools give text, JSON, an image, files, an error and progress, or wait for their end. */
export function openLab(options: Partial<HostOptions> = {}): Lab {
  const server = makeServer('lab');
  const addends = { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] } as const;
  const sum = { type: 'object', properties: { sum: { type: 'number' } } } as const;
  const add = { description: 'Adds two numbers', inputSchema: addends, outputSchema: sum };
  server.registerTool('add', add, ({ a, b }) => ({ structuredContent: { sum: Number(a) + Number(b) } }));
  server.registerTool('draw', {}, () => [
    { type: 'text', text: 'a dot' },
    { type: 'image', mimeType: 'image/png', data: PIXEL },
  ]);
  server.registerTool('files', {}, () => [
    { type: 'audio', mimeType: 'audio/wav', data: 'UklGRg==' },
    { type: 'resource', resource: { uri: 'doc://pdf', mimeType: 'application/pdf', blob: 'JVBERi0=' } },
    { type: 'resource', resource: { uri: 'doc://note', text: 'a note' } },
    { type: 'resource_link', uri: 'doc://more', name: 'more' },
  ]);
  server.registerTool('fail', {}, () => ({
    content: [
      { type: 'text', text: 'the disk is full' },
      { type: 'image', mimeType: 'image/png', data: PIXEL },
    ],
    isError: true,
  }));
  server.registerTool('steps', {}, async (ctx) => {
    await ctx.progress(1, 2, 'half');
    return 'whole';
  });
  server.registerTool('nothing', {}, () => []);
  const events = new EventEmitter();
  const [waiting, cancelled] = [once(events, 'waiting'), once(events, 'cancelled')];
  server.registerTool('wait', {}, (ctx) => {
    events.emit('waiting');
    return new Promise<string>((_, reject) =>
      ctx.signal.addEventListener('abort', () => {
        events.emit('cancelled');
        reject(new Error('stopped'));
      }),
    );
  });
  return { host: openHost({ servers: { lab: reach(server) }, ...options }), waiting, cancelled };
}

/** Serves one scripted answer after the other, and keeps the bodies of the requests. */
export async function serveModel(answers: readonly object[]): Promise<{ readonly url: string; readonly requests: unknown[] }> {
  const requests: unknown[] = [];
  const server = createServer(async (request, response) => {
    requests.push(await json(request));
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answers[requests.length - 1]));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve()).closeAllConnections()));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}
