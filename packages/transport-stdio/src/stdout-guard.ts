/** Keeps standard output for the protocol: whatever else the program writes there is moved to standard error. */

import { Console } from 'node:console';
import type { Writable } from 'node:stream';
import type { WriteText } from './line-writer.ts';

/** A guarded standard output. */
export interface StdoutGuard {
  /** Writes to the real standard output. */
  readonly write: WriteText;
  /** Gives standard output back as it was. */
  restore(): void;
}

/**
 * Takes `stdout.write` away from everyone but the protocol.
 *
 * `console.log` and its like end in `stdout.write`, so they are moved too, also where a library kept them before. Not caught:
 * what is written to file descriptor 1 itself, by `fs.writeSync(1, ...)` or by a child process that inherited it.
 *
 * @param stderr Takes the moved text, and before the first piece one warning that names it.
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
      // Another wrapper may have been put around ours; then ours stays and lets everything through.
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

/** Reads from the stack who called a function: `console.log at file:///app/server.js:3:9`. */
function findWriter(called: (...args: never[]) => unknown): string {
  const holder: { stack?: string } = {};
  Error.captureStackTrace(holder, called);
  const frames = holder.stack?.split('\n').slice(1) ?? [];
  const index = frames.findIndex((frame) => !/\b(?:node|ext|native):/.test(frame));
  const caller = frames[index]?.trim().replace(/^at (?:.* \((.*)\)|(.*))$/, '$1$2');
  // The last of the platform's own frames is what the caller called; without one it was `write` itself.
  const method = index <= 0 ? 'process.stdout.write' : (/at (console\.\w+)/.exec(frames[index - 1] ?? '')?.[1] ?? 'console');
  return caller === undefined ? method : `${method} at ${caller}`;
}

/** The methods that write to standard output. */
const METHODS = ['log', 'info', 'debug', 'dir', 'dirxml', 'table', 'group', 'groupCollapsed', 'count', 'timeEnd', 'timeLog'] as const;

/** Tells whether `console` has a way of its own to standard output, as on Bun and Deno, where guarding `stdout.write` is not enough. */
export function hasOwnConsole(): boolean {
  return process.versions['bun'] !== undefined || 'Deno' in globalThis;
}

/**
 * Lets the methods of a console write through `stdout.write`.
 *
 * @returns Gives the console its own methods back, unless the program has set others since.
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
