/** A server that shows every feature, and a client for it over a real port. */

import { McpClient } from '@mortise/client';
import { completable, McpServer, ResourceTemplate } from '@mortise/server';
import { webSocketTransport, type WebSocketTransportOptions } from '@mortise/transport-ws-custom/client';
import { serveWebSocket, type ServeWebSocketOptions, type WebSocketServing } from '@mortise/transport-ws-custom/server';
import { onTestFinished } from 'vitest';
import { z } from 'zod';

export const info = { name: 'test', version: '1.0.0' };

/** Has something closed after the test, the last one first. */
export function closeLater(close: () => unknown): void {
  onTestFinished(async () => void (await close()));
}

export async function serve(
  server: Parameters<typeof serveWebSocket>[0],
  options: Partial<ServeWebSocketOptions> = {},
): Promise<WebSocketServing> {
  const serving = await serveWebSocket(server, { port: 0, ...options });
  closeLater(() => serving.close({ drainMs: 0 }));
  return serving;
}

export async function connect(
  url: string,
  options: Parameters<typeof McpClient.connect>[2] = {},
  transport: WebSocketTransportOptions = {},
): Promise<McpClient> {
  const client = await McpClient.connect(webSocketTransport(url, transport), info, options);
  closeLater(() => client.close());
  return client;
}

/** What happened in the server's handlers. */
export interface FeatureServer {
  readonly server: McpServer;
  /** Resolves with the reason when the tool `wait` is told to stop. */
  readonly stopped: Promise<unknown>;
}

export function createFeatureServer(): FeatureServer {
  const server = new McpServer({ name: 'features', version: '1.0.0' }, { pageSize: 2 });
  let onStopped: (reason: unknown) => void = () => undefined;
  const stopped = new Promise<unknown>((resolve) => {
    onStopped = resolve;
  });
  server.registerTool('add', { inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } }, ({ a, b }) => ({
    structuredContent: { sum: a + b },
  }));
  server.registerTool('fail', {}, () => {
    throw new Error('it failed');
  });
  server.registerTool('who', {}, (ctx) => ctx.principal);
  server.registerTool('steps', {}, async (ctx) => {
    for (const step of [1, 2, 3]) await ctx.progress(step, 3);
    return 'done';
  });
  server.registerTool('wait', {}, async (ctx) => {
    await ctx.progress(1);
    await new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve()));
    onStopped(ctx.signal.reason);
    return 'stopped';
  });
  server.registerTool('echo', { inputSchema: { text: z.string() } }, ({ text }) => text);
  server.registerTool('ask', {}, async (ctx) => {
    const answer = await ctx.elicit({ message: 'Who are you?', requestedSchema: z.object({ name: z.string() }) });
    return answer.action === 'accept' ? `Hello ${answer.content.name}` : answer.action;
  });
  server.registerTool('sample', {}, async (ctx) => {
    const answer = await ctx.sample({ messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 10 });
    return JSON.stringify(answer.content);
  });
  server.registerTool('roots', {}, async (ctx) => (await ctx.listRoots()).roots.map(({ uri }) => uri).join());
  server.registerResource('readme', 'docs://readme', {}, () => '# Hello');
  server.registerResource(
    'book',
    new ResourceTemplate('book://{title}', { list: undefined }),
    {},
    (_uri, { title }) => `by ${String(title)}`,
  );
  server.registerPrompt(
    'greet',
    { argsSchema: { name: completable(z.string(), (value) => ['Ada', 'Alan', 'Grace'].filter((name) => name.startsWith(value))) } },
    ({ name }) => `Greet ${name}`,
  );
  return { server, stopped };
}
