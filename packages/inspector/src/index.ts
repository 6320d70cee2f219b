/** `@mortise/inspector`: a page for development that connects to MCP servers, uses all that they offer, and shows every message. */

export {
  inspectorHandler,
  type InspectorHandler,
  type InspectorOptions,
  serveInspector,
  type InspectorServing,
  type ServeInspectorOptions,
} from './server/inspector-handler.ts';
export type { ProgramTarget, ServerTarget, UrlTarget } from './messages.ts';
