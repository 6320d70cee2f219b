/** Opens a database of the test's own, by whichever driver loads here. */

import type { SqliteDatabase } from '@mortise/store-sqlite';

export async function openDatabase(path: string): Promise<SqliteDatabase> {
  for (const name of ['better-sqlite3', 'node:sqlite']) {
    try {
      const loaded = (await import(name)) as Record<string, new (path: string) => SqliteDatabase>;
      const Database = loaded['DatabaseSync'] ?? loaded['default'];
      if (Database) return new Database(path);
    } catch {
      // The next one may load.
    }
  }
  throw new Error('no driver loads');
}
