/** Which Node can open a SQLite database: this one, or one that npm brings. */

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { openDatabase } from './open-database.ts';

/** The path of a Node that has a driver. Where this one has none, npm brings Node 24, whose `node:sqlite` needs nothing. */
export async function findNode(): Promise<string> {
  try {
    (await openDatabase(':memory:')).close();
    return process.execPath;
  } catch {
    const { stdout } = await promisify(execFile)('npx', ['--yes', 'node@24', '--print', 'process.execPath']);
    return stdout.trim();
  }
}
