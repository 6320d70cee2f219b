/** A server with every handler of the table, and a tool that tells what they did. */

import { type HandlerContext, McpServer, type McpServerOptions } from '@mortise/server';
import { z } from 'zod';
import { Effects, handlers, type ToldEffects, type WrittenOnce } from './handlers.ts';

/** What each handler did, by its name. */
export type AllEffects = ReadonlyMap<string, Effects>;

export function createEffects(): AllEffects {
  return new Map(handlers.map(({ name }) => [name, new Effects()]));
}

/** The name that a handler is registered under; resources are at `x://<name>`. */
export function toIdentifier(name: string): string {
  return name.replace(/[^a-z0-9]+/gi, '_');
}

export function createEveryHandlerServer(all: AllEffects = createEffects(), options: McpServerOptions = {}): McpServer {
  const server = new McpServer({ name: 'written-once', version: '1.0.0' }, options);
  for (const handler of handlers) register(server, handler, all.get(handler.name) ?? new Effects());
  server.registerTool('effects', { inputSchema: { name: z.string() } }, ({ name }) => {
    const { begun, ended, steps } = all.get(name) ?? new Effects();
    return { structuredContent: { begun, ended, steps } satisfies ToldEffects };
  });
  return server;
}

function register(server: McpServer, handler: WrittenOnce, effects: Effects): void {
  const run = async (ctx: HandlerContext): Promise<string> => {
    effects.begun += 1;
    try {
      return await handler.run(ctx, effects);
    } finally {
      effects.ended += 1;
    }
  };
  const name = toIdentifier(handler.name);
  if (handler.kind === 'prompt') server.registerPrompt(name, {}, run);
  else if (handler.kind === 'resource') server.registerResource(name, `x://${name}`, {}, (_uri, ctx) => run(ctx));
  else server.registerTool(name, {}, run);
}
