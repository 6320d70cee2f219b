/** A small lending library: authors, books, members and loans. The same seed makes the same rows each time. */

import { openDatabase } from './open-database.ts';

const seed = 1843;
const firstNames = ['Ada', 'Alan', 'Barbara', 'Edsger', 'Frances', 'Grace', 'Jean', 'Ken', 'Margaret', 'Radia'] as const;
const lastNames = ['Berg', 'Castro', 'Dubois', 'Evans', 'Fischer', 'Greco', 'Haddad', 'Ito', 'Jansen', 'Kowalski'] as const;
const subjects = ['Bridges', 'Clouds', 'Engines', 'Gardens', 'Harbours', 'Lanterns', 'Maps', 'Orchards', 'Rivers', 'Windmills'] as const;
const forms = ['A History of', 'Notes on', 'The Art of', 'The Atlas of', 'Walking among'] as const;
const genres = ['craft', 'history', 'nature', 'travel'] as const;

/** Makes the database in a new file: 20 authors, 50 books, 30 members and 400 loans of the year 2025. */
export async function makeSampleLibrary(path: string): Promise<void> {
  const database = await openDatabase(path, { isReadOnly: false });
  try {
    database.exec(`
      BEGIN;
      CREATE TABLE authors (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
      CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT NOT NULL, author_id INTEGER NOT NULL REFERENCES authors (id), genre TEXT NOT NULL, year INTEGER NOT NULL);
      CREATE TABLE members (id INTEGER PRIMARY KEY, name TEXT NOT NULL, joined TEXT NOT NULL);
      CREATE TABLE loans (id INTEGER PRIMARY KEY, book_id INTEGER NOT NULL REFERENCES books (id), member_id INTEGER NOT NULL REFERENCES members (id), lent TEXT NOT NULL, returned TEXT);
      CREATE VIEW open_loans AS SELECT books.title, members.name AS member, loans.lent FROM loans JOIN books ON books.id = book_id JOIN members ON members.id = member_id WHERE returned IS NULL;
    `);
    const random = randomFrom(seed);
    const below = (limit: number): number => Math.floor(random() * limit);
    const pick = (words: readonly string[]): string => words[below(words.length)] ?? '';
    const name = (): string => `${pick(firstNames)} ${pick(lastNames)}`;
    const insert = (table: string, row: readonly (string | number | null)[]): void => {
      database.prepare(`INSERT INTO ${table} VALUES (NULL, ${row.map(() => '?').join(', ')})`).run(...row);
    };
    for (let author = 1; author <= 20; author++) insert('authors', [name()]);
    for (const form of forms)
      for (const subject of subjects) insert('books', [`${form} ${subject}`, 1 + below(20), pick(genres), 1950 + below(70)]);
    for (let member = 1; member <= 30; member++) insert('members', [name(), toDate(below(365), 2024)]);
    for (let loan = 1; loan <= 400; loan++) {
      const day = below(365);
      insert('loans', [1 + below(50), 1 + below(30), toDate(day), day > 340 && below(2) === 0 ? null : toDate(day + 1 + below(28))]);
    }
    database.exec('COMMIT');
  } finally {
    database.close();
  }
}

function toDate(day: number, year = 2025): string {
  return new Date(Date.UTC(year, 0, 1 + day)).toISOString().slice(0, 10);
}

/** Numbers from 0 to 1, by a linear congruential generator: enough for rows that look alive. */
function randomFrom(start: number): () => number {
  let state = start;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
