/** Servers and hosts for the tests of this package. */

import { inMemoryTransport } from '@mortise/client/in-memory';
import { McpServer } from '@mortise/server';
import { onTestFinished } from 'vitest';
import { createHost, type Host, type HostEvent, type HostOptions, type HostServer } from '../src/index.ts';

/** Makes a server that ends with the test. */
export function makeServer(name: string, options: ConstructorParameters<typeof McpServer>[1] = {}): McpServer {
  const server = new McpServer({ name, version: '1.0.0' }, options);
  onTestFinished(() => server.close());
  return server;
}

/** Makes a server with one tool, which says the server's name. */
export function makeEcho(name: string, tool = 'echo'): McpServer {
  const server = makeServer(name);
  server.registerTool(tool, { description: `Says ${name}` }, () => name);
  return server;
}

/** Reaches a server in this process, in either era. */
export function reach(server: McpServer, more: Omit<HostServer, 'transport'> = {}): HostServer {
  return { transport: inMemoryTransport(server), ...more };
}

/** Makes a host that ends with the test, and collects its events. */
export function openHost(options: Omit<HostOptions, 'policy'> & Partial<HostOptions>): Host & { readonly events: HostEvent[] } {
  const host = createHost({ policy: () => true, ...options });
  onTestFinished(() => host.close());
  const events: HostEvent[] = [];
  host.onEvent((event) => events.push(event));
  return Object.assign(host, { events });
}

/** Waits for an event for which `isIt` returns true, from now on. */
export function nextEvent(host: Host, isIt: (event: HostEvent) => boolean): Promise<HostEvent> {
  return new Promise((resolve) => {
    const off = host.onEvent((event) => {
      if (!isIt(event)) return;
      off();
      resolve(event);
    });
  });
}

/** The texts of a tool's result. */
export function textOf({ content }: { readonly content: readonly unknown[] }): string {
  return content.map((block) => (block as { readonly text?: string }).text ?? '').join('\n');
}
