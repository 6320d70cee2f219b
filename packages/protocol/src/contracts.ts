/**
 * `@mortise/protocol/contracts`: every interface that packages are joined by, beside those of `@mortise/jsonrpc-core`.
 * Types only; importing this loads no code.
 */

export type { AuthInfo, Authorizer, Challenge, Principal, ScopeChallenger, TokenRequest, TokenVerifier } from './contracts/auth.ts';
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
export type { Ask, HandlerRun } from './contracts/handler-run.ts';
export type {
  AskInterceptor,
  ClientExtension,
  ClientExtensionHost,
  ContextMembers,
  ExtensionCall,
  ExtensionHost,
  HandlerFacts,
  InterceptedCall,
  ListenFilter,
  NextCall,
  RunSoFar,
  ServerExtension,
  ToolCallRecord,
  ToolOptions,
} from './contracts/extension.ts';
export type { BusMessage, MessageBus } from './contracts/message-bus.ts';
export type { EventStore, SessionRecord, SessionStore, StoredEvent } from './contracts/session-stores.ts';
export type { ReplayStore, StateStore } from './contracts/state-store.ts';
export type { TaskAsk, TaskChanges, TaskPage, TaskQueue, TaskRecord, TaskStatus, TaskStore } from './contracts/task-store.ts';
export type { CredentialStore, LockingStore, TaskHandleRecord, TaskHandleStore } from './contracts/credential-store.ts';
export type { JsonSchemaValidator, SchemaAdapter, SchemaIssue, SchemaOutcome } from './contracts/schema-adapter.ts';
export type { Span, Tracer } from './contracts/tracer.ts';
