/** Serves the report builder over stdio: `node dist/server.js reports.db`. Kill it whenever you like. */

import { createSqliteStores } from '@mortise/store-sqlite';
import { serveStdio } from '@mortise/transport-stdio/server';
import { openBook } from './book.ts';
import { openDatabase } from './open-database.ts';
import { createReportServer } from './report-server.ts';

const database = await openDatabase(process.argv[2] ?? 'reports.db');
const stores = await createSqliteStores({ database });
await serveStdio(createReportServer({ stores, book: openBook(database) }));
