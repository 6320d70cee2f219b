import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findWrongPlaces, renderMigrationTable } from '../make-migration-table.ts';

it('lists every export of the official SDKs with its place here, as the declarations of both sides are now', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/reference/migration-exports.md'), 'utf8');
  expect(renderMigrationTable(), 'run: npx tsx --conditions mortise-source scripts/make-migration-table.ts').toBe(page);
});

it('names nothing in the codemod, the table and the guide that our packages do not export', () => {
  expect(findWrongPlaces('`Tool` of `@mortise/protocol`, Nothing of @mortise/server')).toEqual(['Nothing of @mortise/server']);
  for (const file of [
    'packages/codemod/src/v2.ts',
    'docs/reference/migration-exports.md',
    'docs/how-to/migrate-from-the-official-sdk.md',
  ]) {
    expect(findWrongPlaces(readFileSync(join(import.meta.dirname, '../..', file), 'utf8')), file).toEqual([]);
  }
});
