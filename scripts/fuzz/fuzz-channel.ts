/** The two ends that are fuzzed: a server in this process, and one in a child process behind its stdin and stdout. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { createInMemoryPair, type JsonRpcMessage } from '@mortise/jsonrpc-core';
import { createFuzzServer } from './fuzz-server.ts';
import type { Frame } from './message-source.ts';
import type { Json } from './mutate.ts';

/** One connection to a server that is fuzzed. */
export interface FuzzChannel {
  /** Sends a frame; says no when the channel cannot carry it (text that is no JSON, where no text is carried). */
  send(frame: Frame): Promise<boolean>;
  /** Closes the connection from the client's side; resolves with what was wrong about how the server took it, or nothing. */
  close(): Promise<string | undefined>;
}

/** Opens a connection whose server's messages go to `onMessage`. */
export type OpenChannel = (onMessage: (message: Json) => void) => Promise<FuzzChannel>;

const exitTimeoutMs = 5_000;

/** One server object for all connections, as a program would have it. */
export function createInMemoryOpener(): OpenChannel {
  const server = createFuzzServer();
  return async (onMessage) => {
    // By reference, since what is sent here need not be a message that can be written. What comes must be.
    const [ours, theirs] = createInMemoryPair();
    ours.onmessage = (message) => onMessage(JSON.parse(JSON.stringify(message)) as Json);
    const connection = await server.connect(theirs);
    await ours.start();
    return {
      async send({ value }) {
        if (value === undefined) return false;
        await ours.send(value as unknown as JsonRpcMessage);
        return true;
      },
      async close() {
        await ours.close();
        await connection.closed;
        return undefined;
      },
    };
  };
}

/** A fresh server process for each connection. */
export const openStdio: OpenChannel = async (onMessage) => {
  const root = resolve(import.meta.dirname, '../..');
  const args = ['--conditions=mortise-source', '--import', 'tsx', resolve(import.meta.dirname, 'stdio-server.ts')];
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['pipe', 'pipe', 'pipe'] });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    errors = (errors + chunk).slice(-20_000);
  });
  const exited = once(child, 'exit') as Promise<[number | null, string | null]>;
  // A server that dies early breaks the pipe; how it ended is told by close().
  child.stdin.on('error', () => undefined);
  readLines(child.stdout, (line) => onMessage(JSON.parse(line) as Json));
  return {
    async send({ bytes }) {
      const line = new Uint8Array(bytes.length + 1);
      line.set(bytes);
      line[bytes.length] = 0x0a;
      if (!child.stdin.write(line)) await Promise.race([once(child.stdin, 'drain'), exited]);
      return true;
    },
    async close() {
      child.stdin.end();
      const timer = setTimeout(() => child.kill('SIGKILL'), exitTimeoutMs);
      const [code, signal] = await exited;
      clearTimeout(timer);
      return code === 0 ? undefined : `the server ended with ${signal ?? `code ${code}`}:\n${errors}`;
    },
  };
};

/** Reads what lies between line feeds. `node:readline` will not do: from Node 24 on it ends lines at U+2028 too. */
function readLines(input: Readable, onLine: (line: string) => void): void {
  let rest: string[] = [];
  input.setEncoding('utf8').on('data', (chunk: string) => {
    const [first = '', ...others] = chunk.split('\n');
    rest.push(first);
    for (const next of others) {
      onLine(rest.join(''));
      rest = [next];
    }
  });
}
