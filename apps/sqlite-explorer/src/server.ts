#!/usr/bin/env node
/** Serves a SQLite database over stdio: `node dist/server.js --database shop.db`. Without a database it makes a sample. */

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveStdio } from '@mortise/transport-stdio/server';
import { program } from 'commander';
import { openDatabase } from './driver.ts';
import { createExplorer } from './explorer.ts';
import { fillWithSample } from './sample.ts';

const flags = program
  .name('node apps/sqlite-explorer/dist/server.js')
  .description('Serves a SQLite database over stdio: its tables, its schema and queries. It is opened read-only.')
  .option('--database <file>', 'a database that is there; without it, a sample is made and removed at the end')
  .option('--allow-writes', 'also offers a tool for statements that change the database', false)
  .addHelpText('after', '\nExample: node apps/sqlite-explorer/dist/server.js --database shop.db')
  .showSuggestionAfterError(false)
  .configureOutput({
    outputError: (reason, write) => write(reason.replace(/\.?\n$/, '; the flags are --database, --allow-writes, --help\n')),
  })
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .parse()
  .opts<{ database?: string; allowWrites: boolean }>();

if (flags.database !== undefined && !existsSync(flags.database)) program.error(`error: there is no file ${flags.database}`);
await serveStdio(createExplorer(flags.database ?? (await makeSample()), { allowWrites: flags.allowWrites }));

/** Makes the sample in a folder that goes with this process. */
async function makeSample(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'sqlite-explorer-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'music-shop.db');
  const database = await openDatabase(file, { isReadOnly: false });
  fillWithSample(database);
  database.close();
  return file;
}
