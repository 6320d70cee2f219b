/** The closing line of a run. */

import { writeFileSync } from 'node:fs';

/**
 * Prints what failed, then `N passed, N failed` alone on the last line, and sets the exit code: who keeps only the end of a long
 * output still sees what to look at. A script that adds several runs up asks for the same in a file instead
 * (`MORTISE_TOTALS_FILE`), so that it is printed once.
 *
 * @param {{ passed: number, failed: number, skipped?: number, failures?: readonly string[] }} totals `failures`: a line for each.
 */
export function reportTotals({ passed, failed, skipped = 0, failures = [] }) {
  const file = process.env.MORTISE_TOTALS_FILE;
  if (file !== undefined) writeFileSync(file, JSON.stringify({ passed, failed, skipped, failures }));
  else {
    for (const failure of failures) console.log(`failed: ${failure}`);
    if (skipped > 0) console.log(`${skipped} skipped`);
    console.log(`${passed} passed, ${failed} failed`);
  }
  process.exitCode = failed === 0 ? 0 : 1;
}
