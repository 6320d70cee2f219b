/** Opens the program's own database, by whichever driver loads here. The stores are given the same one. */

import type { SqliteDatabase } from '@mortise/store-sqlite';

type Open = (path: string) => SqliteDatabase;

/** @throws Where this Node has no driver; see find-node.ts. */
export async function openDatabase(path: string): Promise<SqliteDatabase> {
  return (await findDriver())(path);
}

async function findDriver(): Promise<Open> {
  try {
    const { default: Database } = await import('better-sqlite3');
    // A driver that was built for another Node fails only now.
    new Database(':memory:').close();
    return (path) => new Database(path);
  } catch {
    const name: string = 'node:sqlite';
    const { DatabaseSync } = (await import(name)) as { readonly DatabaseSync: new (path: string) => SqliteDatabase };
    return (path) => new DatabaseSync(path);
  }
}
