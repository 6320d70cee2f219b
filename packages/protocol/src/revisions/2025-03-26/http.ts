/** HTTP in 2025-03-26: Streamable HTTP, one endpoint with sessions and resumable streams. */

import { INVALID_REQUEST, PARSE_ERROR } from '@mortise/jsonrpc-core/messages';
import type { HttpRules } from '../revision.ts';

export const http: Partial<HttpRules> = {
  endpoints: 'single',
  sessions: true,
  resumable: true,
  // The specification asks for an HTTP error status but does not say which (basic/transports#sending-messages-to-the-server).
  statusByCode: new Map([
    [PARSE_ERROR, 400],
    [INVALID_REQUEST, 400],
  ]),
};
