/** As much of better-sqlite3 as is used. It is an optional dependency, so its own types may not be there. */
declare module 'better-sqlite3' {
  import type { SqliteDatabase } from '@mortise/store-sqlite';

  const Database: new (path: string) => SqliteDatabase;
  export default Database;
}
