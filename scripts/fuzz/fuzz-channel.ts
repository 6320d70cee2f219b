/** The ends that are fuzzed: a server in this process, one in a child process behind its stdin and stdout, and one behind WebSockets. */

import { isUtf8 } from 'node:buffer';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { createInMemoryPair, type JsonRpcMessage } from '@mortise/jsonrpc-core';
import { serveWebSocket } from '@mortise/transport-ws-custom/server';
import { WebSocket } from 'ws';
import { createFuzzServer } from './fuzz-server.ts';
import type { Frame } from './message-source.ts';
import type { Json } from './mutate.ts';

/** One connection to a server that is fuzzed. */
export interface FuzzChannel {
  /** Sends a frame; says no when the channel cannot carry it (text that is no JSON, where no text is carried). */
  send(frame: Frame): Promise<boolean>;
  /** Whether the channel refuses a batch as a whole, with one error that has no id, in a revision that reads batches. */
  refusesBatch?(members: readonly Json[]): boolean;
  /** Closes the connection from the client's side; resolves with what was wrong about how the server took it, or nothing. */
  close(): Promise<string | undefined>;
}

/** Opens a connection whose server's messages go to `onMessage`. */
export type OpenChannel = (onMessage: (message: Json) => void) => Promise<FuzzChannel>;

/** Only what ends a server that hangs: a busy machine takes its time. */
const exitTimeoutMs = 60_000;

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

/** One server object on one port for all connections. */
export function createWebSocketOpener(): OpenChannel {
  let serving: Promise<{ readonly url: string }> | undefined;
  return async (onMessage) => {
    serving ??= serveWebSocket(createFuzzServer(), { port: 0 }).then((opened) => {
      // The fuzzer ends with the process.
      opened.httpServer.unref();
      return opened;
    });
    const ws = new WebSocket((await serving).url, ['mcp'], { perMessageDeflate: false });
    ws.on('message', (data: Buffer) => onMessage(JSON.parse(data.toString()) as Json));
    const closed = once(ws, 'close') as Promise<[number, Buffer]>;
    await once(ws, 'open');
    return {
      async send({ bytes }) {
        // A text frame that is not UTF-8 ends a WebSocket, as RFC 6455 has it; the package's own tests show that.
        if (!isUtf8(bytes)) return false;
        ws.send(bytes, { binary: false });
        return true;
      },
      async close() {
        const endedEarly = ws.readyState !== ws.OPEN;
        ws.close(1000);
        const timer = setTimeout(() => ws.terminate(), exitTimeoutMs);
        const [code, reason] = await closed;
        clearTimeout(timer);
        return code === 1000 && !endedEarly ? undefined : `the server ended the connection with ${code} ${reason.toString()}`;
      },
    };
  };
}

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
