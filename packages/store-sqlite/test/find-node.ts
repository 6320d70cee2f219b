/** Nodes for tests: this one where it has a driver, and those that npm brings to tools/. */

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createSqliteStores, type SqliteDriverName } from '@mortise/store-sqlite';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Whether a driver loads in this process. */
export async function loads(driver?: SqliteDriverName): Promise<boolean> {
  try {
    await (await createSqliteStores({ path: ':memory:', driver })).close();
    return true;
  } catch {
    return false;
  }
}

/** The program of a Node that tools/ pins, brought by npm where it is missing. */
export async function toolNode(line: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [`${root}scripts/tool-node.mjs`, line], { cwd: root });
  return stdout.trim().split('\n').at(-1) ?? '';
}

/** A Node that has a driver: this one, or else Node 24. */
export async function findNode(): Promise<string> {
  return (await loads()) ? process.execPath : toolNode('24');
}
