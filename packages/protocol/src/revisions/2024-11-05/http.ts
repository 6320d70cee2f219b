/** HTTP in 2024-11-05: HTTP+SSE, an event stream that names the address to post to. */

import type { HttpRules } from '../revision.ts';

export const http: HttpRules = {
  endpoints: 'sse-pair',
  sessions: false,
  getStream: true,
  resumable: false,
  polling: false,
  disconnectCancels: false,
  versionHeader: 'never',
  mirrorHeaders: false,
  statusByCode: new Map(),
  missingMetaStatus: 200,
  // The page asks for the check and names no status.
};
