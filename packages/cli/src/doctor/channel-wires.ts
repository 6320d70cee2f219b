/** Wires over a program's standard streams and over WebSocket. */

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import spawn from 'cross-spawn';
import type { JsonRpcMessage } from '@mortise/jsonrpc-core';
import type { ProgramTarget } from '@mortise/inspector';
import { getDefaultEnvironment } from '@mortise/transport-stdio/client';
import { webSocketTransport } from '@mortise/transport-ws-custom/client';
import { CliError, ExitCode } from '../errors.ts';
import { Pairing, type Wire } from './wire.ts';

export interface ProgramWire extends Wire {
  readonly kind: 'stdio';
  /** Sends a line that is no message. */
  sendText(text: string): void;
  /** Closes the program's standard input. @returns Whether the program then ended within the time. */
  endInput(timeoutMs: number): Promise<boolean>;
}

/** Starts a program. @param timeoutMs How long an answer may take. */
export async function openProgram({ command, args = [], env, cwd }: ProgramTarget, timeoutMs: number): Promise<ProgramWire> {
  const child = spawn(command, args, {
    cwd,
    env: { ...getDefaultEnvironment(), ...env },
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: IS_POSIX,
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await once(child, 'spawn').catch((error: unknown) => {
    throw new CliError(`"${command}" could not be started`, ExitCode.unreachable, { cause: error });
  });
  const pairing = new Pairing();
  child.once('close', () => pairing.end());
  readLines(child, pairing);
  // The program may end before it has read all: the answer that does not come says so.
  child.stdin?.on('error', () => undefined);
  const write = (text: string) => () => child.stdin?.write(`${text}\n`);
  return {
    kind: 'stdio',
    strays: pairing.strays,
    send: (message) => pairing.ask(message, timeoutMs, write(JSON.stringify(message))),
    sendText: (text) => void write(text)(),
    endInput: (waitMs) => endInput(child, ended, waitMs),
    close: async () => {
      kill(child);
      await ended;
      child.stdout?.destroy();
    },
  };
}

const IS_POSIX = process.platform !== 'win32';
/** The longest line that is read, in characters. */
const MAX_LINE = 16 * 1024 * 1024;

/** Passes on each line. A program that never ends a line is killed. */
function readLines(child: ChildProcess, pairing: Pairing): void {
  let held = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    const [end = '', ...starts] = chunk.split('\n');
    held += end;
    for (const start of starts) {
      if (held.trim() !== '') pairing.onText(held);
      held = start;
    }
    if (held.length <= MAX_LINE) return;
    pairing.onText(held);
    held = '';
    kill(child);
  });
}

/** Kills a program and those that it started, as `npx` does: they have a process group of their own. */
function kill(child: ChildProcess): void {
  try {
    if (IS_POSIX && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    else child.kill('SIGKILL');
  } catch {
    // All of them have ended.
  }
}

async function endInput(child: ChildProcess, ended: Promise<void>, waitMs: number): Promise<boolean> {
  child.stdin?.end();
  const late = new Promise<false>((resolve) => setTimeout(() => resolve(false), waitMs).unref());
  return Promise.race([ended.then(() => true), late]);
}

export async function openSocket(url: string, headers: Readonly<Record<string, string>>, timeoutMs: number): Promise<Wire> {
  const transport = webSocketTransport(url, { headers });
  const pairing = new Pairing();
  transport.onmessage = (message) => pairing.onText(JSON.stringify(message));
  transport.onerror = (error) => pairing.onText(error.message);
  transport.onclose = () => pairing.end();
  await transport.start();
  return {
    kind: 'websocket',
    strays: pairing.strays,
    send: (message) =>
      pairing.ask(message, timeoutMs, () => void transport.send(message as unknown as JsonRpcMessage).catch(() => undefined)),
    close: () => transport.close(),
  };
}
