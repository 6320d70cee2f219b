/** A revision that nobody published, in a folder as `src/revisions/` has them: `scripts/test/sixth-revision.test.ts` makes it the newest. */

import { defineRevision, type RevisionFacts } from '../../../src/revisions/define-revision.ts';
import { revision as before } from '../../../src/revisions/2026-07-28/index.ts';
import type { RevisionChange } from '../../../src/revisions/revision.ts';
import { convert } from './convert.ts';
import { http, RESOURCE_GONE } from './http.ts';

export const changes: readonly RevisionChange[] = [
  { what: 'A resource that does not exist is -32023, not -32602', see: 'server/resources' },
  { what: 'Prompts have no Mcp-Name, and reading a resource asks nothing', see: 'basic/transports' },
  { what: 'tools/search', see: 'server/tools' },
  { what: 'A result of a tool says how long it took', see: 'server/tools' },
  { what: 'No completion', see: 'server/utilities' },
];

export const revision: RevisionFacts = defineRevision({
  version: '2027-03-31',
  era: 'modern',
  after: before,
  adds: {
    requests: { 'tools/search': { direction: 'client-to-server', serverCapability: 'tools' } },
    errorCodes: { RESOURCE_NOT_FOUND: RESOURCE_GONE },
  },
  changes: { requests: { 'prompts/get': { nameParam: undefined }, 'resources/read': { inputRequired: undefined } } },
  removes: { requests: ['completion/complete'], serverCapabilities: ['completions'] },
  rules: { resourceNotFoundCode: RESOURCE_GONE, completionsCapability: false },
  http,
  convert,
});
