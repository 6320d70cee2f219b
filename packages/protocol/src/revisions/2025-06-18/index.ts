/** 2025-06-18: adds structured tool output, elicitation, resource links and titles; removes batching. */

import { defineRevision, type RevisionFacts } from '../define-revision.ts';
import { revision as before } from '../2025-03-26/index.ts';
import type { RevisionChange } from '../revision.ts';
import { convert } from './convert.ts';
import { http } from './http.ts';

/** The changes of 2025-06-18, in the order of the specification's change log. Those not about messages are implemented elsewhere. */
export const changes: readonly RevisionChange[] = [
  { what: 'No more JSON-RPC batches', see: 'changelog#major-changes' },
  { what: 'Structured tool output: structuredContent, outputSchema', see: 'server/tools#structured-content' },
  {
    what: 'Servers are OAuth resource servers with protected resource metadata',
    see: 'basic/authorization#authorization-server-discovery',
  },
  { what: 'Resource indicators (RFC 8707) on token requests', see: 'basic/authorization#resource-parameter-implementation' },
  { what: 'Security considerations and best practices', see: 'basic/authorization#security-considerations' },
  { what: 'Elicitation by forms', see: 'client/elicitation' },
  { what: 'Resource links in content', see: 'server/tools#resource-links' },
  { what: 'The MCP-Protocol-Version header after initialize', see: 'basic/transports#protocol-version-header' },
  { what: 'Only negotiated capabilities are used: must, not should', see: 'basic/lifecycle#operation' },
  { what: '_meta on named types, and the grammar of its keys', see: 'basic/index#meta' },
  { what: 'context in completion requests', see: 'server/utilities/completion' },
  { what: 'title beside name', see: 'schema#basemetadata' },
];

export const revision: RevisionFacts = defineRevision({
  version: '2025-06-18',
  era: 'legacy',
  after: before,
  adds: {
    requests: { 'elicitation/create': { direction: 'server-to-client', clientCapability: 'elicitation' } },
    clientCapabilities: ['elicitation'],
  },
  rules: {
    batching: false,
    structuredContent: 'object',
    elicitation: 'form',
    contentTypes: new Set([...before.rules.contentTypes, 'resource_link']),
    metaOnTypes: true,
    reservedMetaLabel: 'any-but-last',
    completionContext: true,
  },
  http,
  convert,
});
