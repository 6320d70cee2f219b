/** A sample database: a music shop with artists, albums, tracks, customers and what they bought. The same rows each time. */

import type { Database } from './driver.ts';

const first = ['Amber', 'Broken', 'Copper', 'Distant', 'Electric', 'Frozen', 'Golden', 'Hollow', 'Iron', 'Lunar', 'Quiet', 'Velvet'];
const last = ['Harbour', 'Echoes', 'Foxes', 'Gardens', 'Lanterns', 'Machines', 'Rivers', 'Sparrows', 'Towers', 'Wolves'];
const genres = ['Jazz', 'Rock', 'Folk', 'Electronic', 'Classical'];
const people = ['Ada', 'Bo', 'Chidi', 'Dana', 'Emre', 'Fatou', 'Grace', 'Hiro', 'Ines', 'Jonas'];
const countries = ['Brazil', 'Canada', 'Germany', 'India', 'Japan', 'Kenya', 'Norway'];

const schema = `
  CREATE TABLE artists (id INTEGER PRIMARY KEY, name TEXT NOT NULL, genre TEXT NOT NULL);
  CREATE TABLE albums (id INTEGER PRIMARY KEY, artist INTEGER NOT NULL REFERENCES artists (id), title TEXT NOT NULL, year INTEGER NOT NULL);
  CREATE TABLE tracks (id INTEGER PRIMARY KEY, album INTEGER NOT NULL REFERENCES albums (id), title TEXT NOT NULL, seconds INTEGER NOT NULL);
  CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT NOT NULL);
  CREATE TABLE sales (id INTEGER PRIMARY KEY, customer INTEGER NOT NULL REFERENCES customers (id),
    album INTEGER NOT NULL REFERENCES albums (id), day TEXT NOT NULL, cents INTEGER NOT NULL);
  CREATE VIEW sales_by_genre AS
    SELECT genre, count(*) AS albums_sold, sum(cents) / 100.0 AS revenue
    FROM sales JOIN albums ON albums.id = sales.album JOIN artists ON artists.id = albums.artist GROUP BY genre;
`;

/** Fills an empty database: 40 artists, 120 albums, 1,200 tracks, 100 customers, 3,000 sales. */
export function fillWithSample(database: Database): void {
  const random = randomFrom(7);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const between = (least: number, most: number): number => least + Math.floor(random() * (most - least + 1));
  const title = (): string => `${pick(first)} ${pick(last)}`;
  const insert = (table: string, count: number, makeRow: (index: number) => readonly (string | number)[]): void => {
    const statement = database.prepare(
      `INSERT INTO ${table} VALUES (${makeRow(0)
        .map(() => '?')
        .join(', ')}, ?)`,
    );
    for (let index = 0; index < count; index++) statement.run(index + 1, ...makeRow(index));
  };
  database.exec(schema);
  database.exec('BEGIN');
  insert('artists', 40, (index) => [`${first[index % first.length]} ${last[index % last.length]}`, pick(genres)]);
  insert('albums', 120, (index) => [(index % 40) + 1, title(), between(1970, 2025)]);
  insert('tracks', 1200, (index) => [(index % 120) + 1, title(), between(90, 480)]);
  insert('customers', 100, (index) => [`${people[index % people.length]} ${pick(last)}`, pick(countries)]);
  const day = (): string => new Date(Date.UTC(2025, 0, between(1, 365))).toISOString().slice(0, 10);
  insert('sales', 3000, () => [between(1, 100), between(1, 120), day(), between(5, 30) * 100 - 1]);
  database.exec('COMMIT');
}

/** Numbers from 0 to 1 that only look random (a linear congruential generator). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32) / 2 ** 32;
}
