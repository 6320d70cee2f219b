/** Runs SQL in a process of its own, which is killed when it takes too long or nobody waits for it any more. */

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { ToolError } from '@mortise/server';
import type { Answer, Query } from './run-sql.ts';

const runner = fileURLToPath(new URL('./run-sql.js', import.meta.url));

const TIMEOUT_MS = 5000;
const MAX_BYTES = 1024 * 1024;
const MAX_PROCESSES = 4;

let running = 0;
/** Calls that wait until a process ends. */
const waiting: (() => void)[] = [];

/** @throws {ToolError} SQLite refuses the statement, or it takes too long. */
export async function askSqlite(query: Query, signal: AbortSignal): Promise<Exclude<Answer, { readonly error: string }>> {
  if (running === MAX_PROCESSES) await new Promise<void>((resolve) => waiting.push(resolve));
  else running++;
  try {
    const answer = await runQuery(query, signal);
    if ('error' in answer) throw new ToolError(answer.error);
    return answer;
  } finally {
    const startNext = waiting.shift();
    if (startNext === undefined) running--;
    else startNext();
  }
}

function runQuery(query: Query, signal: AbortSignal): Promise<Answer> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const limits = { timeout: TIMEOUT_MS, maxBuffer: MAX_BYTES, killSignal: 'SIGKILL' as const, signal };
    const child = execFile(process.execPath, [runner], limits, (error, stdout) => {
      if (error === null) return resolve(JSON.parse(stdout) as Answer);
      if (signal.aborted) return reject(signal.reason as Error);
      if (error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER')
        return resolve({ error: `the rows are longer than ${MAX_BYTES} bytes: select fewer columns` });
      if (error.killed === true) return resolve({ error: `the query took longer than ${TIMEOUT_MS} ms: narrow it down` });
      reject(error);
    });
    // A runner that could not start does not read; the callback above says so.
    child.stdin?.on('error', () => undefined).end(JSON.stringify(query));
  });
}
