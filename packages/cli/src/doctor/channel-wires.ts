/** Wires over a program's standard streams and over WebSocket. */

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
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
  const child = spawn(command, args, { cwd, env: { ...getDefaultEnvironment(), ...env }, stdio: ['pipe', 'pipe', 'ignore'] });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  await once(child, 'spawn').catch((error: unknown) => {
    throw new CliError(`"${command}" could not be started`, ExitCode.unreachable, { cause: error });
  });
  const pairing = new Pairing();
  void ended.then(() => pairing.end());
  if (child.stdout) createInterface({ input: child.stdout }).on('line', (line) => line.trim() !== '' && pairing.onText(line));
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
      child.kill('SIGKILL');
      await ended;
    },
  };
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
