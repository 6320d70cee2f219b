/** Serves the report builder over stdio: `node dist/server.js --database reports.db`. Kill it whenever you like. */

import { createSqliteStores } from '@mortise/store-sqlite';
import { serveStdio } from '@mortise/transport-stdio/server';
import { openBook } from './book.ts';
import { openDatabase } from './open-database.ts';
import { readFlags } from './read-flags.ts';
import { createReportServer } from './report-server.ts';

const flags = readFlags(
  `Usage: node apps/long-task/dist/server.js [--database FILE]

Serves the report builder over stdio to a host that knows tasks. Reports, tasks and their steps are kept in a SQLite database.

  --database FILE    the database, made where it is missing (default reports.db in the current folder)

Example: node apps/long-task/dist/server.js --database /tmp/reports.db
`,
  { database: { type: 'string', default: 'reports.db' } },
);

const database = await openDatabase(flags.database);
const stores = await createSqliteStores({ database });
await serveStdio(createReportServer({ stores, book: openBook(database) }));
