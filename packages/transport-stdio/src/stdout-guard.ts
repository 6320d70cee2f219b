/** Reserves standard output for MCP messages: other text that the program writes there goes to standard error. */

import { Console } from 'node:console';
import type { Writable } from 'node:stream';
import type { WriteText } from './line-writer.ts';

/** What `guardStdout` returns: a function that writes MCP messages to standard output, and one that ends the guard. */
export interface StdoutGuard {
  /** Writes an MCP message to the real standard output. */
  readonly write: WriteText;
  /** Ends the guard: restores the original `stdout.write`. */
  restore(): void;
}

/**
 * Replaces `stdout.write`, so that text that the program prints goes to standard error.
 *
 * `console.log` and similar methods call `stdout.write`, so their text moves too. Does NOT catch writes to file descriptor 1, as by
 * `fs.writeSync(1, ...)` or by a child process that inherited it.
 *
 * @param stderr Gets the moved text, and before the first piece a warning that quotes it and names the caller.
 */
export function guardStdout(stdout: Writable, stderr: Writable): StdoutGuard {
  const hadOwn = Object.hasOwn(stdout, 'write');
  const real = stdout.write;
  let isGuarding = true;
  let hasWarned = false;

  function guarded(this: unknown, ...args: Parameters<Writable['write']>): boolean {
    if (!isGuarding) return real.apply(stdout, args);
    if (!hasWarned) {
      hasWarned = true;
      stderr.write(toWarning(args[0], findWriter(guarded)));
    }
    return stderr.write(...args);
  }

  stdout.write = guarded as Writable['write'];
  return {
    write: (text, done) => real.call(stdout, text, 'utf8', done),
    restore() {
      isGuarding = false;
      // Other code has replaced `write` since: this wrapper stays in place and passes everything through.
      if (stdout.write !== guarded) return;
      if (hadOwn) stdout.write = real;
      else Reflect.deleteProperty(stdout, 'write');
    },
  };
}

const QUOTED_LENGTH = 80;

function toWarning(chunk: unknown, writer: string): string {
  const text = typeof chunk === 'string' ? chunk : chunk instanceof Uint8Array ? Buffer.from(chunk).toString('utf8') : String(chunk);
  const line = text.split('\n', 1)[0] ?? '';
  const quoted = JSON.stringify(line.length > QUOTED_LENGTH ? `${line.slice(0, QUOTED_LENGTH)}...` : line);
  return (
    `[mortise] Standard output carries the MCP protocol, so ${quoted}, written by ${writer}, was moved to standard error, ` +
    'as everything else written there will be. Log with console.error instead.\n'
  );
}

/** Finds out from the stack who called a function, such as `console.log at file:///app/server.js:3:9`. */
function findWriter(called: (...args: never[]) => unknown): string {
  const holder: { stack?: string } = {};
  Error.captureStackTrace(holder, called);
  const frames = holder.stack?.split('\n').slice(1) ?? [];
  const index = frames.findIndex((frame) => !/\b(?:node|ext|native):/.test(frame));
  const caller = frames[index]?.trim().replace(/^at (?:.* \((.*)\)|(.*))$/, '$1$2');
  // The last frame of the platform is the method that the program called; without such a frame it called `write` itself.
  const method = index <= 0 ? 'process.stdout.write' : (/at (console\.\w+)/.exec(frames[index - 1] ?? '')?.[1] ?? 'console');
  return caller === undefined ? method : `${method} at ${caller}`;
}

/** The methods of `console` that write to standard output. */
const METHODS = ['log', 'info', 'debug', 'dir', 'dirxml', 'table', 'group', 'groupCollapsed', 'count', 'timeEnd', 'timeLog'] as const;

/** Tells whether `console` does not use `stdout.write`, as on Bun and Deno, so that replacing `write` is not enough. */
export function hasOwnConsole(): boolean {
  return process.versions['bun'] !== undefined || 'Deno' in globalThis;
}

/**
 * Makes the methods of a console (`log`, `info` and others) write with `stdout.write`.
 *
 * @returns A function that restores the original methods, except those that the program has replaced since.
 */
export function routeConsole(target: Pick<Console, (typeof METHODS)[number]>, stdout: Writable, stderr: Writable): () => void {
  const routed = new Console({ stdout, stderr });
  const changes = METHODS.map((name) => {
    const [before, after] = [target[name], routed[name].bind(routed)];
    target[name] = after;
    return { name, before, after };
  });
  return () => {
    for (const { name, before, after } of changes) if (target[name] === after) target[name] = before;
  };
}
