/** The Markdown files of this repository, as a small searchable library. */

import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

/** The documents, by their path. */
export type Library = ReadonlyMap<string, Document>;

/** One document of the library. */
export interface Document {
  /** From the root of the library, with forward slashes. */
  readonly path: string;
  readonly title: string;
  readonly text: string;
}

/** A document that a search found. */
export interface Hit {
  readonly document: Document;
  /** How often the words of the query stand in it. */
  readonly mentions: number;
  /** By what hits are ordered: mentions, and a hundred for each in the title. */
  readonly score: number;
}

/** What tools write, and what is not for readers. */
const skipped = new Set(['node_modules', 'dist', 'api', 'spec-coverage.md', '.cache', '.git', '.turbo', '.changeset']);

async function listMarkdown(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const nested = await Promise.all(
    entries.map((entry) => {
      if (skipped.has(entry.name)) return [];
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return listMarkdown(path);
      return entry.isFile() && entry.name.endsWith('.md') ? [path] : [];
    }),
  );
  return nested.flat();
}

/** Reads every Markdown file below a folder. */
export async function readDocuments(root: string): Promise<Library> {
  const files = (await listMarkdown(root)).toSorted();
  const documents = await Promise.all(
    files.map(async (file): Promise<Document> => {
      const text = await readFile(file, 'utf8');
      const path = relative(root, file).split(sep).join('/');
      return { path, title: /^#\s+(.+)$/m.exec(text)?.[1] ?? path, text };
    }),
  );
  return new Map(documents.map((document) => [document.path, document]));
}

function countOf(word: string, text: string): number {
  return text.split(word).length - 1;
}

/** Finds the documents that hold the query's words, best first. */
export function searchDocuments(documents: Iterable<Document>, query: string, limit: number): Hit[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const hits: Hit[] = [];
  for (const document of documents) {
    const text = document.text.toLowerCase();
    const title = document.title.toLowerCase();
    const mentions = words.reduce((sum, word) => sum + countOf(word, text), 0);
    const score = words.reduce((sum, word) => sum + 100 * countOf(word, title), mentions);
    if (score > 0) hits.push({ document, mentions, score });
  }
  return hits.toSorted((one, other) => other.score - one.score || one.document.path.localeCompare(other.document.path)).slice(0, limit);
}
