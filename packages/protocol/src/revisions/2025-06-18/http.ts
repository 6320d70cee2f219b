/** HTTP in 2025-06-18: each request after `initialize` names the negotiated revision in the header `MCP-Protocol-Version`. */

import type { HttpRules } from '../revision.ts';

export const http: Partial<HttpRules> = { versionHeader: 'after-initialize' };
