import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { generatedPages } from '../generated-pages.ts';
import { findWrongPlaces } from '../make-migration-table.ts';
import { root } from '../run-command.mjs';

const read = (file: string): string => readFileSync(join(root, file), 'utf8');

it.each(generatedPages)('$file says what its sources say now', async ({ file, render }) => {
  expect(read(file), 'npm run docs:write writes it').toBe(await render());
});

it('names nothing in the codemod, the table and the guide that our packages do not export', () => {
  expect(findWrongPlaces('`Tool` of `@mortise/protocol`, Nothing of @mortise/server')).toEqual(['Nothing of @mortise/server']);
  for (const file of ['packages/codemod/src/v2.ts', 'docs/reference/migration-exports.md', 'docs/how-to/migrate-from-the-official-sdk.md'])
    expect(findWrongPlaces(read(file)), file).toEqual([]);
});
