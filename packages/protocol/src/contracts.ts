/**
 * `@mortise/protocol/contracts`: every interface that packages are joined by, beside those of `@mortise/jsonrpc-core`.
 * Types only; importing this loads no code.
 */

export type { AuthInfo, Principal } from './contracts/principal.ts';
export type {
  CallOrigin,
  EndpointTransport,
  Call,
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
  ExtensionAudience,
  ExtensionCall,
  ExtensionHost,
  ExtensionMethod,
  InterceptedCall,
  HandlerFacts,
  ListenFilter,
  NextCall,
  RunSoFar,
  ServerExtension,
  ToolCallRecord,
  ToolOptions,
} from './contracts/extension.ts';
export type { BusMessage, MessageBus } from './contracts/message-bus.ts';
export type { SessionRecord, SessionStore } from './contracts/session-store.ts';
export type { EventStore, StoredEvent } from './contracts/event-store.ts';
export type { ReplayStore, StateStore } from './contracts/state-store.ts';
export type { TaskAsk, TaskChanges, TaskPage, TaskRecord, TaskStatus, TaskStore } from './contracts/task-store.ts';
export type { TaskQueue } from './contracts/task-queue.ts';
export type { ScopeChallenger, TokenRequest, TokenVerifier } from './contracts/token-verifier.ts';
export type { Authorizer, Challenge } from './contracts/authorizer.ts';
export type { CredentialStore, LockingStore, TaskHandleRecord, TaskHandleStore } from './contracts/credential-store.ts';
export type { JsonSchemaValidator, SchemaAdapter, SchemaIssue, SchemaOutcome } from './contracts/schema-adapter.ts';
export type { Span, Tracer } from './contracts/tracer.ts';
