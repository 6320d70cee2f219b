/** 2024-11-05: the first revision. It is defined in full; each later revision is defined by its changes. */

import { RESOURCE_NOT_FOUND_LEGACY } from '../../error-codes.ts';
import { defineRevision, type RevisionFacts } from '../define-revision.ts';
import type { Direction, MethodFacts, RevisionChange } from '../revision.ts';
import { convert } from './convert.ts';
import { http } from './http.ts';

/** The features of 2024-11-05. It is the first revision, so each is listed as a change that adds it. */
export const changes: readonly RevisionChange[] = [
  { what: 'The first revision: JSON-RPC 2.0 with initialize, ping, cancellation, progress', see: 'basic/lifecycle' },
  { what: 'Tools, resources, prompts, completion, logging, pagination', see: 'server/index' },
  { what: 'Roots and sampling', see: 'client/roots' },
  { what: 'stdio, and HTTP+SSE with two endpoints', see: 'basic/transports' },
];

const fromClient = /* @__NO_SIDE_EFFECTS__ */ (facts: Omit<MethodFacts, 'direction'> = {}): MethodFacts => ({
  direction: 'client-to-server',
  ...facts,
});
const fromServer = /* @__NO_SIDE_EFFECTS__ */ (facts: Omit<MethodFacts, 'direction'> = {}): MethodFacts => ({
  direction: 'server-to-client',
  ...facts,
});
const both: { readonly direction: Direction } = { direction: 'both' };

export const revision: RevisionFacts = defineRevision({
  version: '2024-11-05',
  era: 'legacy',
  adds: {
    requests: {
      initialize: fromClient(),
      ping: both,
      'tools/list': fromClient({ serverCapability: 'tools', paged: true }),
      'tools/call': fromClient({ serverCapability: 'tools' }),
      'resources/list': fromClient({ serverCapability: 'resources', paged: true }),
      'resources/templates/list': fromClient({ serverCapability: 'resources', paged: true }),
      'resources/read': fromClient({ serverCapability: 'resources' }),
      'resources/subscribe': fromClient({ serverCapability: 'resources.subscribe', changesSession: true }),
      'resources/unsubscribe': fromClient({ serverCapability: 'resources.subscribe', changesSession: true }),
      'prompts/list': fromClient({ serverCapability: 'prompts', paged: true }),
      'prompts/get': fromClient({ serverCapability: 'prompts' }),
      'completion/complete': fromClient(),
      'logging/setLevel': fromClient({ serverCapability: 'logging', changesSession: true }),
      'sampling/createMessage': fromServer({ clientCapability: 'sampling' }),
      'roots/list': fromServer({ clientCapability: 'roots' }),
    },
    notifications: {
      'notifications/initialized': fromClient({ changesSession: true }),
      'notifications/cancelled': both,
      'notifications/progress': both,
      'notifications/message': fromServer({ serverCapability: 'logging' }),
      'notifications/tools/list_changed': fromServer({ serverCapability: 'tools.listChanged' }),
      'notifications/prompts/list_changed': fromServer({ serverCapability: 'prompts.listChanged' }),
      'notifications/resources/list_changed': fromServer({ serverCapability: 'resources.listChanged' }),
      'notifications/resources/updated': fromServer({ serverCapability: 'resources.subscribe' }),
      'notifications/roots/list_changed': fromClient({ clientCapability: 'roots.listChanged' }),
    },
    clientCapabilities: ['experimental', 'roots', 'roots.listChanged', 'sampling'],
    serverCapabilities: [
      'experimental',
      'logging',
      'prompts',
      'prompts.listChanged',
      'resources',
      'resources.subscribe',
      'resources.listChanged',
      'tools',
      'tools.listChanged',
    ],
    errorCodes: { RESOURCE_NOT_FOUND: RESOURCE_NOT_FOUND_LEGACY },
  },
  rules: {
    batching: false,
    errorIdOptional: false,
    resultType: false,
    resourceNotFoundCode: RESOURCE_NOT_FOUND_LEGACY,
    firstReservedCode: -32020,
    invalidArgumentsAreResults: false,
    structuredContent: 'none',
    contentTypes: new Set(['text', 'image', 'resource']),
    samplingArrays: false,
    progressMessage: false,
    completionContext: false,
    completionsCapability: false,
    logLevel: 'session',
    elicitation: 'none',
    elicitationIds: false,
    coreTasks: false,
    extensions: false,
    defaultDialect: undefined,
    metaOnTypes: false,
    reservedMetaLabel: 'none',
    changeNotifications: 'unsolicited',
  },
  http,
  convert,
});
