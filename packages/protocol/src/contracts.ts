/**
 * `@mortise/protocol/contracts`: every interface that packages are joined by, beside those of `@mortise/jsonrpc-core`.
 * Types only; importing this loads no code.
 */

export type {
  AuthInfo,
  Authorizer,
  Challenge,
  CredentialStore,
  LockingStore,
  Principal,
  ScopeChallenger,
  TokenRequest,
  TokenVerifier,
} from './contracts/auth.ts';
export type {
  Call,
  CallOrigin,
  EndpointTransport,
  LegacySession,
  McpEndpoint,
  ParamHeaders,
  SessionLink,
  SessionState,
} from './contracts/mcp-endpoint.ts';
export type {
  Ask,
  AskInterceptor,
  ClientExtension,
  ClientExtensionHost,
  ContextMembers,
  ExtensionCall,
  ExtensionHost,
  HandlerFacts,
  HandlerRun,
  InterceptedCall,
  ListenFilter,
  NextCall,
  RunSoFar,
  ServerExtension,
  ToolCallRecord,
  ToolOptions,
} from './contracts/extension.ts';
export type { BusMessage, MessageBus } from './contracts/message-bus.ts';
export type { EventStore, ReplayStore, SessionRecord, SessionStore, StateStore, StoredEvent } from './contracts/session-stores.ts';
export type {
  TaskAsk,
  TaskChanges,
  TaskHandleRecord,
  TaskHandleStore,
  TaskPage,
  TaskQueue,
  TaskRecord,
  TaskStatus,
  TaskStore,
} from './contracts/task-store.ts';
export type { JsonSchemaValidator, SchemaAdapter, SchemaIssue, SchemaOutcome } from './contracts/schema-adapter.ts';
export type { Span, Tracer } from './contracts/tracer.ts';
