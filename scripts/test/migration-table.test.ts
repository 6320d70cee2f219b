import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { renderMigrationTable } from '../make-migration-table.ts';

it('lists every export of the official SDKs with its place here, as the declarations of both sides are now', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/guides/migration-exports.md'), 'utf8');
  expect(renderMigrationTable(), 'run: npx tsx --conditions mortise-source scripts/make-migration-table.ts').toBe(page);
});
