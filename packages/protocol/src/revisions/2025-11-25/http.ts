/** HTTP in 2025-11-25: the server may close an SSE stream early and let the client poll for the response. */

import type { HttpRules } from '../revision.ts';

export const http: Partial<HttpRules> = { polling: true };
