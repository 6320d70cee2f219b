/** Serves the report builder over stdio: `node dist/server.js --database reports.db`. Kill it whenever you like. */

import { createSqliteStores } from '@mortise/store-sqlite';
import { serveStdio } from '@mortise/transport-stdio/server';
import { program } from 'commander';
import { openBook } from './book.ts';
import { openDatabase } from './open-database.ts';
import { createReportServer } from './report-server.ts';

const flags = program
  .name('node apps/long-task/dist/server.js')
  .description(
    'Serves the report builder over stdio to a host that knows tasks. Reports, tasks and their steps are kept in a SQLite database.',
  )
  .option('--database <file>', 'the database, made where it is missing', 'reports.db')
  .addHelpText('after', '\nExample: node apps/long-task/dist/server.js --database /tmp/reports.db')
  .showSuggestionAfterError(false)
  .configureOutput({ outputError: (reason, write) => write(reason.replace(/\.?\n$/, '; the flags are --database, --help\n')) })
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .parse()
  .opts<{ database: string }>();

const database = await openDatabase(flags.database);
const stores = await createSqliteStores({ database });
await serveStdio(createReportServer({ stores, book: openBook(database) }));
