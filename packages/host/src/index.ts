/** `@mortise/host`: several MCP servers as one, with the user's consent before each tool call. */

export {
  createHost,
  type Host,
  type HostEvent,
  type HostPrompt,
  type HostResource,
  type HostResourceTemplate,
  type HostTool,
  type ResourcePlace,
} from './host.ts';
export type { HostOptions, HostServer } from './host-options.ts';
export type { ServerState } from './hosted-server.ts';
export type { HostListOptions } from './list-reader.ts';
export type { ListName } from './server-list.ts';
export type { AskContext, AskHandler, AskOptions, HostElicitation, HostSampling } from './asks.ts';
export {
  allowReadOnly,
  allowTools,
  type Consent,
  type ConsentScope,
  denyTools,
  rememberConsent,
  type ToolLock,
  type ToolPolicy,
  type ToolUse,
} from './consent.ts';
export { type AnyHostError, ServerUnavailableError, ToolRefusedError } from './errors.ts';
