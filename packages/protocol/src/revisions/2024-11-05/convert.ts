/** The wire of 2024-11-05 and the one before it: there is none, so nothing differs. */

import type { Hop } from '../define-revision.ts';

export const convert: Hop = {};
