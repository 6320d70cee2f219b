/** As much of better-sqlite3 as is used. It is an optional dependency, so its own types may not be there. */
declare module 'better-sqlite3' {
  import type { Database as Opened } from './driver.ts';

  const Database: new (path: string, options?: { readonly readonly: boolean }) => Opened;
  export default Database;
}
