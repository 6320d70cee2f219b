/**
 * `@mortise/protocol/contracts`: every interface that packages are joined by, beside those of `@mortise/jsonrpc-core`.
 * Types only; importing this loads no code. The open interfaces of extensions are listed by name, so that declarations merge with them.
 */

export type * from './contracts/auth.ts';
export type * from './contracts/mcp-endpoint.ts';
export type {
  Ask,
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
export type * from './contracts/message-bus.ts';
export type * from './contracts/session-stores.ts';
export type * from './contracts/task-store.ts';
export type * from './contracts/schema-adapter.ts';
export type * from './contracts/tracer.ts';
