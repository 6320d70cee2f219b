/** `lockFile`: keeps digests of tools, or decisions of the user, in a JSON file. */

import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { ToolLock } from '../consent.ts';

/**
 * Keeps texts in a JSON file that people can read and review: the option `lock` of a host, or the `memory` of `rememberConsent`.
 *
 * The file is read once, at the first use in the program: end the program before you change or delete it. It is replaced as a whole at each
 * change, so that it is never half written. One program at a time.
 *
 * @param path Made when first needed, with its folder; only its owner can read it.
 * @throws {TypeError} At its first use: the file is not JSON with one object of texts. Mend or delete it.
 */
export function lockFile(path: string): ToolLock {
  const full = resolve(path);
  const known = locks.get(full);
  if (known) return known;
  const lock = openLock(full);
  locks.set(full, lock);
  return lock;
}

/** The locks of this program by path: two of one file would drop each other's entries. */
const locks = new Map<string, ToolLock>();

function openLock(path: string): ToolLock {
  let loading: Promise<Map<string, string>> | undefined;
  let writing: Promise<void> = Promise.resolve();
  const load = (): Promise<Map<string, string>> => {
    loading ??= readTexts(path);
    // The user may mend the file while the program runs.
    loading.catch(() => (loading = undefined));
    return loading;
  };
  const write = async (texts: ReadonlyMap<string, string>): Promise<void> => {
    const json = `${JSON.stringify(Object.fromEntries([...texts].sort()), undefined, 2)}\n`;
    const draft = `${path}.${randomUUID()}`;
    await mkdir(dirname(path), { recursive: true });
    try {
      await writeFile(draft, json, { mode: 0o600 });
      await rename(draft, path);
    } catch (error) {
      // What is not in the file is read again, and does not count.
      loading = undefined;
      await rm(draft, { force: true });
      throw error;
    }
  };
  return {
    get: async (key) => (await load()).get(key),
    async set(key, value) {
      const texts = await load();
      texts.set(key, value);
      const written = writing.then(() => write(texts));
      writing = written.catch(() => undefined);
      await written;
    },
  };
}

async function readTexts(path: string): Promise<Map<string, string>> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map();
    throw error;
  }
  const value = parse(text);
  if (!isJsonObject(value) || Object.values(value).some((each) => typeof each !== 'string'))
    throw new TypeError(`${path} is not a lock file: it must be JSON with one object of texts. Mend or delete it`);
  return new Map(Object.entries(value) as [string, string][]);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
