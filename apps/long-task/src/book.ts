/** The sales that reports are made of, and the reports that were written: tables of the program's own. */

import type { SqliteDatabase } from '@mortise/store-sqlite';

export const REGIONS = ['north', 'east', 'south', 'west'] as const;

/** The tables of sales and of reports. */
export interface Book {
  /** Adds up a region's sales, and notes that it did. */
  total(region: string): number;
  /** Writes a report once for a key. @returns Its number. */
  write(key: string, title: string, totals: Readonly<Record<string, number>>): number;
  /** How often each region was added up, and how many reports there are. */
  count(): { readonly additions: Readonly<Record<string, number>>; readonly reports: number };
}

/** Opens the tables; fills them where they are new. */
export function openBook(database: SqliteDatabase): Book {
  database.exec(`
    CREATE TABLE IF NOT EXISTS sales (region TEXT NOT NULL, amount INTEGER NOT NULL);
    CREATE TABLE IF NOT EXISTS additions (region TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS reports (number INTEGER PRIMARY KEY, key TEXT UNIQUE NOT NULL, title TEXT NOT NULL, totals TEXT NOT NULL);
  `);
  const row = (sql: string, ...values: string[]): Readonly<Record<string, unknown>> =>
    database.prepare(sql).get(...values) as Readonly<Record<string, unknown>>;
  if (row('SELECT count(*) AS count FROM sales')['count'] === 0) fill(database);
  return {
    total(region) {
      database.prepare('INSERT INTO additions (region) VALUES (?)').run(region);
      return Number(row('SELECT sum(amount) AS total FROM sales WHERE region = ?', region)['total']);
    },
    write(key, title, totals) {
      const text = JSON.stringify(totals);
      database.prepare('INSERT INTO reports (key, title, totals) VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING').run(key, title, text);
      return Number(row('SELECT number FROM reports WHERE key = ?', key)['number']);
    },
    count() {
      const additions = database.prepare('SELECT region, count(*) AS count FROM additions GROUP BY region').all();
      return {
        additions: Object.fromEntries((additions as Record<string, unknown>[]).map(({ region, count }) => [String(region), Number(count)])),
        reports: Number(row('SELECT count(*) AS count FROM reports')['count']),
      };
    },
  };
}

function fill(database: SqliteDatabase): void {
  const insert = database.prepare('INSERT INTO sales (region, amount) VALUES (?, ?)');
  database.exec('BEGIN');
  for (const [index, region] of REGIONS.entries()) for (let sale = 1; sale <= 1000; sale++) insert.run(region, (index + 1) * sale);
  database.exec('COMMIT');
}
