/** Runs statements in a process each, which ends when the call is cancelled or its time is over. */

import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { ToolError } from '@mortise/server';
import type { SqlValue } from './open-database.ts';

/** What is to be run. */
export interface Order {
  readonly kind: keyof Outcomes;
  readonly database: string;
  readonly sql: string;
  /** The values of the question marks. */
  readonly parameters: readonly Exclude<SqlValue, bigint | Uint8Array>[];
  /** The most rows that a query returns. */
  readonly limit: number;
}

/** What comes of each kind. */
export interface Outcomes {
  query: { rows: Record<string, unknown>[]; isTruncated: boolean };
  change: { changes: number };
}

/** What the process prints: an outcome, or what SQLite said of the statement. */
export type Printed = Outcomes[keyof Outcomes] | { readonly error: string };

const program = fileURLToPath(new URL('statement-process.js', import.meta.url));

/**
 * @param limits `signal` ends the process, and so does the time.
 * @throws {ToolError} What SQLite said of the statement, for the model to read.
 */
export async function runStatement<Kind extends keyof Outcomes>(
  order: Order & { readonly kind: Kind },
  { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<Outcomes[Kind]> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const child = spawn(process.execPath, [program], {
    stdio: ['pipe', 'pipe', 'inherit'],
    signal: AbortSignal.any([signal, timeout]),
    killSignal: 'SIGKILL',
  });
  const failed = new Promise<never>((_, reject) => child.once('error', reject));
  try {
    child.stdin.end(JSON.stringify(order));
    const outcome = JSON.parse(await Promise.race([text(child.stdout), failed])) as Outcomes[Kind] | { readonly error: string };
    if ('error' in outcome) throw new ToolError(`${order.kind}: ${outcome.error}`);
    return outcome;
  } catch (error) {
    signal.throwIfAborted();
    if (timeout.aborted) throw new ToolError(`${order.kind}: stopped after ${timeoutMs / 1000} s; ask for less`);
    throw error;
  }
}
