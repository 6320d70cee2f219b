/** A stdio server as a program names it once: a transport to it, and a maker of fresh ones. */

import type { Readable } from 'node:stream';
import type { Transport } from '@mortise/jsonrpc-core';
import { createCallableTransport, type TransportFactory } from '@mortise/jsonrpc-core/transport';
import { StdioClientTransport, type StdioClientTransportOptions } from './stdio-client-transport.ts';

/** A transport to a server's process. Called, it gives another, unstarted one that runs a process of its own. */
export interface StdioTransport extends Transport, TransportFactory {
  /** Names the server: the program, and a digest of how it is run, which may hold secrets. */
  readonly eraKey: string;
  /** The id of this transport's own process while it runs. */
  readonly pid: number | undefined;
  /** The standard error of its own process with `stderr: 'pipe'`, else `null`. */
  readonly stderr: Readable | null;
}

/**
 * Describes a server that is run as a child process: `stdioTransport({ command: 'node', args: ['server.js'] })`.
 *
 * The result is a transport and a factory at once, so that a client can run the server again after it has died. Nothing runs
 * before `start`.
 */
export function stdioTransport(options: StdioClientTransportOptions): StdioTransport {
  const own = new StdioClientTransport(options);
  return createCallableTransport(own, () => new StdioClientTransport(options), {
    get eraKey() {
      return own.eraKey;
    },
    get pid() {
      return own.pid;
    },
    get stderr() {
      return own.stderr;
    },
  });
}
