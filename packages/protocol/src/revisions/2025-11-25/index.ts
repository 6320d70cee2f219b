/** 2025-11-25: adds icons, URL elicitation, tools in sampling, better enums, experimental tasks and SSE polling. */

import { URL_ELICITATION_REQUIRED } from '../../error-codes.ts';
import { defineRevision, type RevisionFacts } from '../define-revision.ts';
import { revision as before } from '../2025-06-18/index.ts';
import type { RevisionChange } from '../revision.ts';
import { convert } from './convert.ts';
import { http } from './http.ts';

/** The changes of 2025-11-25, in the order of the specification's change log. Those not about messages are implemented elsewhere. */
export const changes: readonly RevisionChange[] = [
  {
    what: 'Authorization servers found by OpenID Connect discovery too',
    see: 'basic/authorization#authorization-server-metadata-discovery',
  },
  { what: 'icons on tools, resources, templates, prompts and implementations', see: 'basic/index#icons' },
  { what: 'Scopes asked for step by step through WWW-Authenticate', see: 'basic/authorization#scope-challenge-handling' },
  { what: 'A rule for tool names', see: 'server/tools#tool-names' },
  { what: 'Enums by oneOf and anyOf, choices of several, string arrays as answers', see: 'client/elicitation#requested-schema' },
  { what: 'Elicitation by URL', see: 'client/elicitation#url-mode-elicitation-requests' },
  { what: 'tools and toolChoice in sampling; content as an array', see: 'client/sampling#sampling-with-tools' },
  { what: 'Client ID metadata documents', see: 'basic/authorization#client-id-metadata-documents' },
  { what: 'Tasks, experimental', see: 'basic/utilities/tasks' },
  { what: 'stderr may carry any log on stdio', see: 'basic/transports#stdio' },
  { what: 'description on implementations', see: 'schema#implementation' },
  { what: 'A bad Origin is answered with 403', see: 'basic/transports#security-warning' },
  { what: 'Arguments that fail their schema are tool errors, not protocol errors', see: 'server/tools#error-handling' },
  { what: 'Servers may end SSE streams and be polled', see: 'basic/transports#sending-messages-to-the-server' },
  { what: 'Resumption is always by GET; event ids name their stream', see: 'basic/transports#resumability-and-redelivery' },
  {
    what: 'Protected resource metadata may be found without WWW-Authenticate',
    see: 'basic/authorization#protected-resource-metadata-discovery-requirements',
  },
  { what: 'Defaults for every primitive field of a form', see: 'client/elicitation#requested-schema' },
  { what: 'JSON Schema 2020-12 where a schema names no dialect', see: 'basic/index#json-schema-usage' },
  { what: 'Params are named types of their own', see: 'schema' },
];

export const revision: RevisionFacts = defineRevision({
  version: '2025-11-25',
  era: 'legacy',
  after: before,
  adds: {
    // `extensions` is not in this revision's schema, which leaves capabilities open. Most hosts of MCP Apps speak this revision and declare it.
    requests: {
      'tasks/get': { direction: 'both', serverCapability: 'tasks', clientCapability: 'tasks' },
      'tasks/result': { direction: 'both', serverCapability: 'tasks', clientCapability: 'tasks' },
      'tasks/list': { direction: 'both', serverCapability: 'tasks.list', clientCapability: 'tasks.list', paged: true },
      'tasks/cancel': { direction: 'both', serverCapability: 'tasks.cancel', clientCapability: 'tasks.cancel' },
    },
    notifications: {
      'notifications/elicitation/complete': { direction: 'server-to-client', clientCapability: 'elicitation.url' },
      'notifications/tasks/status': { direction: 'both', serverCapability: 'tasks', clientCapability: 'tasks' },
    },
    clientCapabilities: [
      'extensions',
      'elicitation.form',
      'elicitation.url',
      'sampling.context',
      'sampling.tools',
      'tasks',
      'tasks.list',
      'tasks.cancel',
      'tasks.requests',
      'tasks.requests.sampling',
      'tasks.requests.sampling.createMessage',
      'tasks.requests.elicitation',
      'tasks.requests.elicitation.create',
    ],
    serverCapabilities: [
      'extensions',
      'tasks',
      'tasks.list',
      'tasks.cancel',
      'tasks.requests',
      'tasks.requests.tools',
      'tasks.requests.tools.call',
    ],
    errorCodes: { URL_ELICITATION_REQUIRED },
  },
  rules: {
    elicitation: 'form-and-url',
    elicitationIds: true,
    samplingArrays: true,
    coreTasks: true,
    extensions: true,
    invalidArgumentsAreResults: true,
    reservedMetaLabel: 'second',
    defaultDialect: 'https://json-schema.org/draft/2020-12/schema',
    errorIdOptional: true,
  },
  http,
  convert,
});
