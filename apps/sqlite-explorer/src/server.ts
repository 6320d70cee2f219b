#!/usr/bin/env node
/** Serves the explorer over stdio: `node dist/server.js --database my.db`, or without a flag on a sample database. */

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveStdio } from '@mortise/transport-stdio/server';
import { InvalidArgumentError, program } from 'commander';
import { createExplorer } from './explorer-server.ts';
import { openDatabase } from './open-database.ts';
import { makeSampleLibrary } from './sample-library.ts';

const flags = program
  .name('node apps/sqlite-explorer/dist/server.js')
  .description('Serves a SQLite database over stdio: its tables, and queries that are bounded in rows and time. Read-only by default.')
  .option('--database <file>', 'the database; without it, a sample library that is removed at the end')
  .option('--allow-writes', 'also offers a tool that changes the database', false)
  .option('--seconds <n>', 'how long one statement may take', toSeconds, 30)
  .addHelpText('after', '\nExample: node apps/sqlite-explorer/dist/server.js --database chinook.db')
  .showSuggestionAfterError(false)
  .configureOutput({
    outputError: (reason, write) => write(reason.replace(/\.?\n$/, '; the flags are --database, --allow-writes, --seconds, --help\n')),
  })
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .parse()
  .opts<{ database?: string; allowWrites: boolean; seconds: number }>();

if (flags.database !== undefined && !existsSync(flags.database)) {
  process.stderr.write(`There is no database ${flags.database}: name an existing file in --database\n`);
  process.exit(1);
}
let path = flags.database;
if (path === undefined) {
  const folder = mkdtempSync(join(tmpdir(), 'mortise-sqlite-explorer-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  path = join(folder, 'library.db');
  await makeSampleLibrary(path);
}
const database = await openDatabase(path, { isReadOnly: true });
await serveStdio(createExplorer({ path, database, allowsWrites: flags.allowWrites, timeoutMs: flags.seconds * 1000 }));

function toSeconds(text: string): number {
  const seconds = Number(text);
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= 600) return seconds;
  throw new InvalidArgumentError('It must be a whole number from 1 to 600.');
}
