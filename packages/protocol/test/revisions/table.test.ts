/** `docs/reference/revisions.md` is written from the revisions themselves. */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { renderRevisions } from '../../../../scripts/make-revisions-table.ts';

it('says in docs/reference/revisions.md what the revisions say', async () => {
  const file = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../../../docs/reference/revisions.md');
  expect(readFileSync(file, 'utf8')).toBe(await renderRevisions());
});
