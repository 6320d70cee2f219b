/** HTTP in 2025-06-18: each request names the revision that was agreed on. */

import type { HttpRules } from '../revision.ts';

export const http: Partial<HttpRules> = { versionHeader: 'after-initialize' };
