/** HTTP in 2024-11-05: HTTP+SSE. An event of the SSE stream tells the client the URL for its POST requests. */

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
};
