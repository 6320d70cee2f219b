/** HTTP in 2025-03-26: Streamable HTTP, one endpoint with sessions and streams that may be resumed. */

import { INVALID_REQUEST, PARSE_ERROR } from '@mortise/jsonrpc-core/messages';
import type { HttpRules } from '../revision.ts';

export const http: Partial<HttpRules> = {
  endpoints: 'single',
  sessions: true,
  resumable: true,
  // What cannot be accepted gets an HTTP error status (basic/transports#sending-messages-to-the-server); which is left open.
  statusByCode: new Map([
    [PARSE_ERROR, 400],
    [INVALID_REQUEST, 400],
  ]),
};
