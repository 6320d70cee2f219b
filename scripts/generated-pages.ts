/** `npm run docs:write`: writes the pages and pictures of `docs/` that programs make. A test compares them. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pagesOfFacts } from './facts/page.mjs';
import { renderCommandLine } from './make-command-line.ts';
import { renderMigrationTable } from './make-migration-table.ts';
import { renderRevisions } from './make-revisions-table.ts';
import { root } from './run-command.mjs';

interface Page {
  /** Below the root. */
  readonly file: string;
  readonly render: () => string | Promise<string>;
}

export const generatedPages: readonly Page[] = [
  { file: 'docs/reference/command-line.md', render: renderCommandLine },
  { file: 'docs/reference/migration-exports.md', render: renderMigrationTable },
  { file: 'docs/reference/revisions.md', render: renderRevisions },
  ...pagesOfFacts(JSON.parse(readFileSync(join(root, 'docs/facts.json'), 'utf8'))),
];

if (process.argv[1] === import.meta.filename)
  for (const { file, render } of generatedPages) writeFileSync(join(root, file), await render());
