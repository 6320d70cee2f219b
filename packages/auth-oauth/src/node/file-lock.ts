/**
 * A lock that processes share: a file that only one of them can create.
 *
 * Who holds it touches it every few seconds. One that nobody has touched for long was left by a process that died, and is taken over:
 * under a second lock, so that of many who see that only one does it.
 */

import { randomUUID } from 'node:crypto';
import { open, readFile, rm, stat, utimes } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** How a lock behaves. */
export interface FileLockOptions {
  /** A lock that was not touched for this long, in milliseconds, was left behind. @default 15_000 */
  readonly staleMs?: number | undefined;
  /** Ends the wait for the lock. @default none */
  readonly signal?: AbortSignal | undefined;
}

/** Also where no lock is ever taken over. */
const MOST_UNTOUCHED_MS = 3000;

/** Runs one caller at a time over all processes that use the path. Lets go when `fn` settles. */
export async function withFileLock<T>(path: string, fn: () => Promise<T>, { staleMs = 15_000, signal }: FileLockOptions = {}): Promise<T> {
  const owner = randomUUID();
  while (!(await tryCreate(path, owner))) {
    if (!(await removeStale(path, staleMs)))
      await sleep(20 + Math.random() * 60, undefined, signal ? { signal } : {}).catch(() => signal?.throwIfAborted());
  }
  const touch = setInterval(
    () => void utimes(path, new Date(), new Date()).catch(() => undefined),
    Math.min(staleMs / 5, MOST_UNTOUCHED_MS),
  );
  touch.unref();
  try {
    signal?.throwIfAborted();
    return await fn();
  } finally {
    clearInterval(touch);
    if ((await readOwner(path)) === owner) await rm(path, { force: true });
  }
}

async function tryCreate(path: string, owner: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx', 0o600);
    await file.writeFile(owner);
    await file.close();
    return true;
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false;
    throw error;
  }
}

/** @returns Whether the lock may be free now. */
async function removeStale(path: string, staleMs: number): Promise<boolean> {
  if (!(await isStale(path, staleMs))) return false;
  const guard = `${path}.takeover`;
  if (!(await tryCreate(guard, ''))) {
    if (await isStale(guard, staleMs)) await rm(guard, { force: true });
    return false;
  }
  try {
    if (await isStale(path, staleMs)) await rm(path, { force: true });
    return true;
  } finally {
    await rm(guard, { force: true });
  }
}

async function isStale(path: string, staleMs: number): Promise<boolean> {
  try {
    return Date.now() - (await stat(path)).mtimeMs > staleMs;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return false;
    throw error;
  }
}

async function readOwner(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** Tells a system error by its code. */
export function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === code;
}
