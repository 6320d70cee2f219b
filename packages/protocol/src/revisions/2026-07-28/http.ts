/** HTTP in 2026-07-28: one POST per request, without sessions, GET streams or resumption. Headers repeat values of the body. */

import { INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR } from '@mortise/jsonrpc-core/messages';
import { HEADER_MISMATCH, MISSING_CLIENT_CAPABILITY, UNSUPPORTED_PROTOCOL_VERSION } from '../../error-codes.ts';
import type { HttpRules } from '../revision.ts';

export const http: Partial<HttpRules> = {
  sessions: false,
  getStream: false,
  resumable: false,
  polling: false,
  disconnectCancels: true,
  versionHeader: 'always',
  mirrorHeaders: true,
  statusByCode: new Map([
    [PARSE_ERROR, 400],
    [INVALID_REQUEST, 400],
    [METHOD_NOT_FOUND, 404],
    [HEADER_MISMATCH, 400],
    [MISSING_CLIENT_CAPABILITY, 400],
    [UNSUPPORTED_PROTOCOL_VERSION, 400],
  ]),
  missingMetaStatus: 400,
};
