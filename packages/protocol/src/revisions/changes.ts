/** The change logs of all revisions, apart from the revisions themselves, so that only who prints them carries their prose. */

import { changes as first, revision as r1 } from './2024-11-05/index.ts';
import { changes as second, revision as r2 } from './2025-03-26/index.ts';
import { changes as third, revision as r3 } from './2025-06-18/index.ts';
import { changes as fourth, revision as r4 } from './2025-11-25/index.ts';
import { changes as fifth, revision as r5 } from './2026-07-28/index.ts';
import type { RevisionChange } from './revision.ts';

/** What each revision changed, by version, oldest first, a line each in the order of the specification's own change log. */
export const REVISION_CHANGES: ReadonlyMap<string, readonly RevisionChange[]> = /* @__PURE__ */ (() =>
  new Map([
    [r1.version, first],
    [r2.version, second],
    [r3.version, third],
    [r4.version, fourth],
    [r5.version, fifth],
  ]))();
