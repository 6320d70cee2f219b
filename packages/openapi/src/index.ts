/** `@mortise/openapi`: an OpenAPI document as an MCP server. */

export { createOpenApiServer, type OpenApiServer, type OpenApiServerOptions, type OpenApiTool } from './openapi-server.ts';
export type { ApiValues } from './call-api.ts';
export type { OpenApiProblem } from './document.ts';
