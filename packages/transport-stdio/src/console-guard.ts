/** On Bun and Deno `console` does not write through `process.stdout.write`, so that guarding that is not enough there. */

import { Console } from 'node:console';
import type { Writable } from 'node:stream';

/** The methods that write to standard output. */
const METHODS = ['log', 'info', 'debug', 'dir', 'dirxml', 'table', 'group', 'groupCollapsed', 'count', 'timeEnd', 'timeLog'] as const;

/** Tells whether `console` has a way of its own to standard output. */
export function hasOwnConsole(): boolean {
  return process.versions['bun'] !== undefined || 'Deno' in globalThis;
}

/**
 * Lets the methods of a console write through `stdout.write`.
 *
 * @returns Gives the console its own methods back, where nobody has set others since.
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
