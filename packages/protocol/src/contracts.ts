/**
 * `@mortise/protocol/contracts`: the interfaces through which Mortise's packages use each other, except those of `@mortise/jsonrpc-core`.
 * Types only. The interfaces of `extension.ts` are listed by name because declaration merging does not work through `export *`.
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
export type * from './contracts/cluster-stores.ts';
export type * from './contracts/session-stores.ts';
export type * from './contracts/task-store.ts';
export type * from './contracts/schema-adapter.ts';
export type * from './contracts/tracer.ts';
