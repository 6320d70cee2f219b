/**
 * A lock that processes share: a file that only one of them can create.
 *
 * Who holds it touches it every few seconds. One that nobody has touched for long was left by a process that died, and is taken over:
 * under a second lock, so that of many who see that only one does it.
 */

import { randomUUID } from 'node:crypto';
import { readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const TOUCH_MS = 3_000;
const STALE_MS = 15_000;

/** Runs one caller at a time over all processes that use the path. Lets go when `fn` settles. @param signal Ends the wait for the lock. */
export async function withFileLock<T>(path: string, fn: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const owner = randomUUID();
  while (!(await tryCreate(path, owner))) {
    if (!(await removeStale(path)))
      await sleep(20 + Math.random() * 60, undefined, signal ? { signal } : {}).catch(() => signal?.throwIfAborted());
  }
  const touch = setInterval(() => void utimes(path, new Date(), new Date()).catch(() => undefined), TOUCH_MS);
  touch.unref();
  try {
    signal?.throwIfAborted();
    return await fn();
  } finally {
    clearInterval(touch);
    const holder = await readFile(path, 'utf8').catch(() => undefined);
    if (holder === owner) await rm(path, { force: true });
  }
}

async function tryCreate(path: string, owner: string): Promise<boolean> {
  try {
    await writeFile(path, owner, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false;
    throw error;
  }
}

/** @returns Whether the lock may be free now. */
async function removeStale(path: string): Promise<boolean> {
  if (!(await isStale(path))) return false;
  const guard = `${path}.takeover`;
  if (!(await tryCreate(guard, ''))) {
    if (await isStale(guard)) await rm(guard, { force: true });
    return false;
  }
  try {
    if (await isStale(path)) await rm(path, { force: true });
    return true;
  } finally {
    await rm(guard, { force: true });
  }
}

async function isStale(path: string): Promise<boolean> {
  try {
    return Date.now() - (await stat(path)).mtimeMs > STALE_MS;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return false;
    throw error;
  }
}

/** Whether an error is a system error with this code. */
export function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === code;
}
