/** A server's process, spoken to by hand: no transport of ours stands between the test and its bytes. */

import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { eachLine } from './each-line.ts';
import { makeFolder } from './fixture.ts';
import { readDelayMs } from '../../../scripts/test/cpu-time.ts';

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export class ServerProcess {
  readonly child: ChildProcess;
  readonly stdoutLines: string[] = [];
  readonly stderrLines: string[] = [];
  readonly exited: Promise<Exit>;
  /** Resolves when nobody holds the other end of its standard error any more. */
  readonly stderrEnded: Promise<void>;
  readonly #waiters = new Set<() => void>();
  readonly #endFile = path.join(makeFolder(), 'end');

  constructor(args: readonly string[], stdio: StdioOptions = 'pipe') {
    this.child = spawn(process.execPath, args, { stdio, env: { ...process.env, END_FILE: this.#endFile } });
    this.child.stdin?.on('error', () => undefined);
    this.exited = new Promise((resolve) => this.child.once('exit', (code, signal) => resolve({ code, signal })));
    this.#collect(this.child.stdout, this.stdoutLines);
    this.stderrEnded = this.#collect(this.child.stderr, this.stderrLines);
  }

  /** Starts a server and waits until it says that it is ready. */
  static async start(...args: readonly string[]): Promise<ServerProcess> {
    const server = new ServerProcess(args);
    await server.says('ready');
    return server;
  }

  get messages(): readonly { readonly id?: unknown; readonly result?: unknown; readonly error?: unknown }[] {
    return this.stdoutLines.map((line) => JSON.parse(line) as object);
  }

  /** Writes requests or notifications, all at once. */
  write(...messages: readonly object[]): void {
    this.child.stdin?.write(messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''));
  }

  /** The id of the server's process, which is the child or a child of it. */
  get pid(): number {
    return Number(this.stderrLines.find((line) => line.startsWith('pid '))?.split(' ')[1]);
  }

  /**
   * How long the server goes on after something has happened, by its own clock and without the time that it was ready to run and other processes
   * ran: a busy machine makes it no slower.
   *
   * @param ended When it is known to be gone.
   */
  async timeToEnd(cause: () => void, ended: Promise<unknown> = this.exited): Promise<number> {
    const delayMs = readDelayMs(this.pid);
    cause();
    const startMs = Date.now();
    await ended;
    const [endMs = NaN, endDelayMs = NaN] = readFileSync(this.#endFile, 'utf8').split(' ').map(Number);
    return endMs - startMs - (endDelayMs - delayMs);
  }

  /** Waits for a line on standard error. */
  async says(text: string): Promise<void> {
    await this.until(() => this.stderrLines.some((line) => line.includes(text)));
  }

  /** Waits for so many lines on standard output. */
  async answers(count: number): Promise<void> {
    await this.until(() => this.stdoutLines.length >= count);
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.#waiters.add(resolve));
  }

  #collect(stream: NodeJS.ReadableStream | null, lines: string[]): Promise<void> {
    if (!stream) throw new Error('no pipe');
    return new Promise((resolve) => {
      const onLine = (line: string): void => {
        lines.push(line);
        for (const wake of this.#waiters) wake();
        this.#waiters.clear();
      };
      eachLine(stream, onLine, resolve);
    });
  }
}
