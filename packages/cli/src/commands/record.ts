/** `mortise record`: stands between a client and a server, and writes every message to a file. */

import { closeSync, openSync, writeSync } from 'node:fs';
import { parse, resolve } from 'node:path';
import type { JsonRpcMessage, Transport } from '@mortise/jsonrpc-core';
import { serializeMessage } from '@mortise/jsonrpc-core/messages';
import { StdioServerTransport } from '@mortise/transport-stdio/server';
import type { Command } from 'commander';
import { CliError, ExitCode, toMessage } from '../errors.ts';
import type { Entry } from '../recording/recording.ts';
import { addTargetOptions } from '../server-command.ts';
import { type TargetOptions, toTransport } from '../target.ts';
import { clean, type Terminal } from '../terminal.ts';

const EXAMPLE = `
A host starts it in place of the server; what the host says goes on to the server:
  mortise record "node server.js" session.jsonl

The file holds what client and server sent, secrets in arguments and results included. HTTP headers are not in it.`;

export function addRecord(program: Command, terminal: Terminal): void {
  const command = program.command('record <server> <file>').description('Serve a server over stdio, and write every message to a file');
  addTargetOptions(command)
    .addHelpText('after', EXAMPLE)
    .action((server: string, file: string, options: TargetOptions) => record(server, file, options, terminal));
}

async function record(target: string, path: string, options: TargetOptions, terminal: Terminal): Promise<void> {
  const { stdin, stdout, cwd, signal } = terminal.io;
  const server = toTransport(target, options, terminal)();
  const client = new StdioServerTransport(stdin, stdout, { exitWhenDone: false });
  const [file, name] = createFile(resolve(cwd, path));
  const startMs = performance.now();
  let isWriting = true;
  const write = (from: Entry['from'], message: JsonRpcMessage): void => {
    if (!isWriting) return;
    try {
      writeSync(file, `{"ms":${Math.round(performance.now() - startMs)},"from":"${from}","message":${serializeMessage(message)}}\n`);
    } catch (error) {
      isWriting = false;
      terminal.note(`${terminal.styleNote('red', 'the recording ended')}: ${clean(toMessage(error))}; the session goes on`);
    }
  };
  const sides = { client, server };
  let serverError: Error | undefined;
  const closed = Object.entries(sides).map(([from, side]) => {
    const other = side === client ? server : client;
    side.onmessage = (message) => {
      write(from as Entry['from'], message as JsonRpcMessage);
      // A side that is gone is seen by its `onclose`.
      void other.send(message as JsonRpcMessage).catch(() => undefined);
    };
    side.onerror = (error) => {
      if (side === server) serverError = error;
      terminal.note(clean(`${from}: ${error.message}`));
    };
    return new Promise<Transport>((done) => (side.onclose = () => done(side)));
  });
  const close = (): Promise<unknown> => Promise.all([client.close(), server.close()]);
  signal?.addEventListener('abort', () => void close(), { once: true });
  try {
    await server.start();
    await client.start();
    terminal.note(terminal.styleNote('dim', `recording to ${clean(name)}`));
    if ((await Promise.race(closed)) === server && serverError) terminal.exitCode = ExitCode.unreachable;
  } finally {
    await close();
    closeSync(file);
  }
}

/** Creates the file. Where there is one already, a number is put behind its name: no recording is lost. */
function createFile(path: string): [descriptor: number, path: string] {
  const { dir, name, ext } = parse(path);
  for (let number = 1; ; number += 1) {
    const free = number === 1 ? path : resolve(dir, `${name}-${number}${ext}`);
    try {
      return [openSync(free, 'wx', 0o600), free];
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST')
        throw new CliError(`${clean(free)} cannot be written`, undefined, { cause: error });
    }
  }
}
