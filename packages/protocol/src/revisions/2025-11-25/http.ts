/** HTTP in 2025-11-25: the server may close a stream early and let the client poll. */

import type { HttpRules } from '../revision.ts';

export const http: Partial<HttpRules> = { polling: true };
