/** 2026-07-28: no sessions. Each request has the version and capabilities in `_meta`; requests to the client travel inside results. */

import { INVALID_PARAMS } from '@mortise/jsonrpc-core/messages';
import { HEADER_MISMATCH, MISSING_CLIENT_CAPABILITY, UNSUPPORTED_PROTOCOL_VERSION } from '../../error-codes.ts';
import { defineRevision, type RevisionFacts } from '../define-revision.ts';
import { revision as before } from '../2025-11-25/index.ts';
import type { RevisionChange } from '../revision.ts';
import { convert } from './convert.ts';
import { http } from './http.ts';

/** The changes of 2026-07-28, in the order of the specification's change log. Those not about messages are implemented elsewhere. */
export const changes: readonly RevisionChange[] = [
  { what: 'No sessions and no Mcp-Session-Id; lists no longer vary by connection', see: 'changelog#major-changes' },
  { what: 'No handshake: version, client capabilities and identities travel in _meta', see: 'basic/index#meta' },
  { what: 'server/discover', see: 'server/discover' },
  {
    what: 'subscriptions/listen in place of the GET stream, resources/subscribe and resources/unsubscribe',
    see: 'basic/patterns/subscriptions',
  },
  {
    what: 'No ping, logging/setLevel or notifications/roots/list_changed; the log level is asked for by request',
    see: 'server/utilities/logging',
  },
  { what: 'Tasks become the extension io.modelcontextprotocol/tasks', see: 'changelog#major-changes' },
  { what: 'Servers ask by input_required results, no longer by requests', see: 'basic/patterns/mrtr' },
  { what: 'resultType on every result', see: 'basic/index#resulttype' },
  { what: 'No resumption of SSE streams', see: 'basic/transports/streamable-http' },
  { what: 'extensions among the capabilities', see: 'basic/versioning#extension-negotiation' },
  { what: 'Trace context in _meta', see: 'basic/index#meta' },
  { what: 'tools/list in a steady order', see: 'server/tools' },
  { what: 'Mcp-Method, Mcp-Name and Mcp-Param-* mirror the body', see: 'basic/transports/streamable-http' },
  { what: 'ttlMs and cacheScope on lists, reads and discovery', see: 'server/utilities/caching' },
  { what: 'A resource that does not exist is -32602, not -32002', see: 'server/resources#error-handling' },
  { what: 'Authorization servers name themselves by iss', see: 'basic/authorization/authorization-server-discovery' },
  { what: 'application_type in dynamic registration', see: 'basic/authorization/client-registration' },
  { what: 'Credentials belong to the issuer that gave them', see: 'basic/authorization/client-registration' },
  { what: 'Any JSON Schema keyword in tool schemas, any JSON value as structuredContent', see: 'server/tools#structured-content' },
  { what: 'No notifications/elicitation/complete and no elicitationId', see: 'client/elicitation' },
  { what: 'Error codes -32020 to -32099 belong to the specification', see: 'basic/index#error-codes' },
  { what: 'Deprecated: roots, sampling, logging', see: 'deprecated' },
  { what: 'Deprecated: HTTP+SSE', see: 'deprecated' },
  { what: 'Deprecated: includeContext thisServer and allServers', see: 'deprecated' },
  { what: 'Deprecated: dynamic client registration', see: 'deprecated' },
];

export const revision: RevisionFacts = defineRevision({
  version: '2026-07-28',
  era: 'modern',
  after: before,
  adds: {
    requests: {
      'server/discover': { direction: 'client-to-server', cacheable: true },
      'subscriptions/listen': { direction: 'client-to-server', listens: true },
    },
    notifications: { 'notifications/subscriptions/acknowledged': { direction: 'server-to-client' } },
    errorCodes: { HEADER_MISMATCH, MISSING_CLIENT_CAPABILITY, UNSUPPORTED_PROTOCOL_VERSION },
  },
  changes: {
    requests: {
      'tools/list': { cacheable: true, paramHeaders: 'marked' },
      'tools/call': { inputRequired: true, nameParam: 'name', paramHeaders: 'sent' },
      'prompts/list': { cacheable: true },
      'prompts/get': { inputRequired: true, nameParam: 'name' },
      'resources/list': { cacheable: true },
      'resources/templates/list': { cacheable: true },
      'resources/read': { inputRequired: true, cacheable: true, nameParam: 'uri' },
      'elicitation/create': { direction: 'embedded' },
      'sampling/createMessage': { direction: 'embedded' },
      'roots/list': { direction: 'embedded' },
    },
    notifications: { 'notifications/progress': { direction: 'server-to-client' } },
  },
  removes: {
    requests: [
      'initialize',
      'ping',
      'logging/setLevel',
      'resources/subscribe',
      'resources/unsubscribe',
      'tasks/get',
      'tasks/result',
      'tasks/list',
      'tasks/cancel',
    ],
    notifications: [
      'notifications/initialized',
      'notifications/roots/list_changed',
      'notifications/elicitation/complete',
      'notifications/tasks/status',
    ],
    clientCapabilities: [
      'roots.listChanged',
      'tasks',
      'tasks.list',
      'tasks.cancel',
      'tasks.requests',
      'tasks.requests.sampling',
      'tasks.requests.sampling.createMessage',
      'tasks.requests.elicitation',
      'tasks.requests.elicitation.create',
    ],
    serverCapabilities: ['tasks', 'tasks.list', 'tasks.cancel', 'tasks.requests', 'tasks.requests.tools', 'tasks.requests.tools.call'],
    errorCodes: ['RESOURCE_NOT_FOUND', 'URL_ELICITATION_REQUIRED'],
  },
  rules: {
    resultType: true,
    logLevel: 'request',
    coreTasks: false,
    changeNotifications: 'listen',
    resourceNotFoundCode: INVALID_PARAMS,
    firstReservedCode: -32000,
    structuredContent: 'any',
    elicitationIds: false,
  },
  http,
  convert,
});
