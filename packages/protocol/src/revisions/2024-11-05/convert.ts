/** No conversions: 2024-11-05 is the first revision, so there is no previous one to convert to. */

import type { Hop } from '../define-revision.ts';

export const convert: Hop = {};
