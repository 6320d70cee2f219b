/** HTTP in 2025-06-18: the revision that was agreed on is told with each request. */

import type { HttpRules } from '../revision.ts';

export const http: Partial<HttpRules> = { versionHeader: 'after-initialize' };
