/** 2025-03-26: adds Streamable HTTP, batching, tool annotations and audio. */

import { defineRevision, type RevisionFacts } from '../define-revision.ts';
import { revision as before } from '../2024-11-05/index.ts';
import type { RevisionChange } from '../revision.ts';
import { convert } from './convert.ts';
import { http } from './http.ts';

/** The changes of 2025-03-26, in the order of the specification's change log. Those not about messages are implemented elsewhere. */
export const changes: readonly RevisionChange[] = [
  { what: 'Authorization by OAuth 2.1', see: 'changelog#major-changes' },
  { what: 'Streamable HTTP in place of HTTP+SSE', see: 'basic/transports#streamable-http' },
  { what: 'JSON-RPC batches', see: 'basic/index#batching' },
  { what: 'Tool annotations', see: 'server/tools#tool' },
  { what: 'message on progress notifications', see: 'basic/utilities/progress' },
  { what: 'Audio content', see: 'server/tools#audio-content' },
  { what: 'The completions capability', see: 'server/utilities/completion#capabilities' },
];

export const revision: RevisionFacts = defineRevision({
  version: '2025-03-26',
  era: 'legacy',
  after: before,
  adds: { serverCapabilities: ['completions'] },
  changes: { requests: { 'completion/complete': { serverCapability: 'completions' } } },
  rules: {
    batching: true,
    progressMessage: true,
    contentTypes: new Set([...before.rules.contentTypes, 'audio']),
    completionsCapability: true,
  },
  http,
  convert,
});
