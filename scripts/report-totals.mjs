/** The closing line of a run. */

import { writeFileSync } from 'node:fs';

/**
 * Prints `N passed, N failed` alone on the last line and sets the exit code. A script that adds several runs up asks for the
 * numbers in a file instead (`MORTISE_TOTALS_FILE`), so that one such line is printed.
 *
 * @param {{ passed: number, failed: number, skipped?: number }} totals
 */
export function reportTotals({ passed, failed, skipped = 0 }) {
  const file = process.env.MORTISE_TOTALS_FILE;
  if (file !== undefined) writeFileSync(file, JSON.stringify({ passed, failed, skipped }));
  else {
    if (skipped > 0) console.log(`${skipped} skipped`);
    console.log(`${passed} passed, ${failed} failed`);
  }
  process.exitCode = failed === 0 ? 0 : 1;
}
