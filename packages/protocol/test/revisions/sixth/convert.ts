/** The wire of the invented revision and the one of 2026-07-28. */

import type { Hop } from '../../../src/revisions/define-revision.ts';
import { drop } from '../../../src/revisions/reshape.ts';

export const convert: Hop = { toPrevious: { results: { 'tools/call': drop('tookMs') } } };
