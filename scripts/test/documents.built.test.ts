/** The documents as their readers use them: the shell blocks of README.md, of the packages' READMEs and of docs/, page by page, in empty folders. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDocuments, rowsOfPages, usesPorts } from '../run-documents.mjs';

const rows = rowsOfPages();
const skipped = rows.flat().flatMap(({ page, steps }) => steps.flatMap((step) => (step.kind === 'skip' ? [{ page, ...step }] : [])));

// Blocks are for the shells of Linux and macOS.
describe.skipIf(process.platform === 'win32')('the shell blocks', () => {
  let documents: Awaited<ReturnType<typeof openDocuments>>;
  beforeAll(async () => {
    documents = await openDocuments();
  }, 600_000);
  afterAll(() => documents.close());

  // Two lines of work: pages that use ports one after the other, and beside them those that use none.
  const lanes = [rows.filter(usesPorts), rows.filter((row) => !usesPorts(row))];
  const faults = new Map<string, Promise<unknown>>();
  beforeAll(() => {
    for (const lane of lanes) {
      let before: Promise<unknown> = Promise.resolve();
      for (const row of lane) {
        before = before.then(() => documents.run(row).catch((error: unknown) => error));
        faults.set(titleOf(row), before);
      }
    }
  });

  it.each(rows.map(titleOf))(
    'do what the page says: %s',
    async (title) => {
      const fault = await faults.get(title);
      if (fault !== undefined) throw fault;
    },
    1_200_000,
  );
});

it('are left out only with a reason', () => {
  console.log(skipped.map(({ page, line, reason }) => `not run: ${page}:${line} (${reason})`).join('\n'));
  expect(skipped.filter(({ reason }) => !/\w+ \w+/.test(reason))).toEqual([]);
});

/** The pages of a row. */
function titleOf(row: (typeof rows)[number]): string {
  return row.map(({ page }) => page).join(', ');
}
