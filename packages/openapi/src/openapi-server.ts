/** `createOpenApiServer`: an OpenAPI document as an MCP server. */

import { isMortiseError, ProtocolError } from '@mortise/jsonrpc-core';
import { toBase64 } from '@mortise/jsonrpc-core/encoding';
import { INTERNAL_ERROR, isJsonObject } from '@mortise/jsonrpc-core/messages';
import { checkOptions, type OptionTable } from '@mortise/jsonrpc-core/transport';
import type { Implementation } from '@mortise/protocol/model';
import { type HandlerContext, McpServer, type McpServerOptions, ResourceTemplate, ToolError } from '@mortise/server';
import type { ReadContent } from '@mortise/server/types';
import { type ApiSettings, type ApiValues, callApi, isText, textOf, toResult } from './call-api.ts';
import { ApiDocument, type OpenApiProblem } from './document.ts';
import { type ApiOperation, readOperations } from './read-operations.ts';
import { toolName } from './tool-name.ts';

/** A tool that is about to be made of an operation. */
export interface OpenApiTool {
  /** Its `operationId`, or its method and path: at most 64 characters of `a-z`, `A-Z`, `0-9`, `_` and `-`. */
  readonly name: string;
  /** The title for people: the `summary` of the operation. */
  readonly title: string | undefined;
  /** The description for the model. */
  readonly description: string;
  /** In lower case, such as `get`. */
  readonly method: string;
  /** As in the document, such as `/users/{id}`. */
  readonly path: string;
  /** The `operationId` of the operation, if it has one. */
  readonly operationId: string | undefined;
  /** The tags of the operation. */
  readonly tags: readonly string[];
  /** Whether the document marks the operation as deprecated. */
  readonly isDeprecated: boolean;
}

/** The options of `createOpenApiServer`. */
export interface OpenApiServerOptions {
  /** The URL of the API. All calls go there: the `servers` of the document are ignored, and redirects are not followed. */
  readonly baseUrl: string | URL;
  /**
   * Headers of every request, such as `authorization`. A function makes them for each call. The model sees no parameters of the names in an
   * object.
   *
   * @default none
   */
  readonly headers?: ApiValues | undefined;
  /** Query parameters of every request, such as an API key. As `headers`. @default none */
  readonly query?: ApiValues | undefined;
  /** Changes the name, title or description of a tool; `undefined` leaves the operation out, as a resource too. @default all, as they are */
  readonly tools?: ((tool: OpenApiTool) => OpenApiTool | undefined) | undefined;
  /**
   * Whether GET operations that need no more than a path are resources, too, at `openapi:` and their path. The API alone checks its
   * variables.
   *
   * @default false
   */
  readonly resources?: boolean | undefined;
  /**
   * How long the API may take for a response, in milliseconds. If it takes longer, the tool call fails with a message for the model.
   *
   * @default 30_000
   */
  readonly timeoutMs?: number | undefined;
  /** The longest response of the API, in bytes. If it is longer, the tool call fails with a message for the model. @default 1_048_576 */
  readonly maxResponseBytes?: number | undefined;
  /** The server's name and version. @default the title and version of the document */
  readonly info?: Implementation | undefined;
  /** More options of the server, such as `instructions`. @default those of `McpServer` */
  readonly server?: McpServerOptions | undefined;
  /** Sends the requests. @default the platform's */
  readonly fetch?: typeof fetch | undefined;
}

const OPTIONS: OptionTable<OpenApiServerOptions> = {
  baseUrl: ['string', 'object'],
  headers: ['object', 'function'],
  query: ['object', 'function'],
  tools: 'function',
  resources: 'boolean',
  timeoutMs: 1,
  maxResponseBytes: 1,
  info: 'object',
  server: 'object',
  fetch: 'function',
};

/** An OpenAPI document as a server. */
export interface OpenApiServer {
  /** The server. Serve it by any transport, and add tools, resources and prompts of your own. */
  readonly server: McpServer;
  /** The operations that are not tools, or only in part, and why. */
  readonly problems: readonly OpenApiProblem[];
}

/**
 * Makes an MCP server from an OpenAPI 3.0 or 3.1 document. Each operation becomes a tool, whose arguments are the operation's parameters,
 * and `body`.
 *
 * An operation that cannot be a tool is named in `problems`; the others work. References to other documents are not followed.
 *
 * @param document Its text as JSON or YAML, or the object.
 * @throws {TypeError} `document` is not an OpenAPI 3 document, or an option is missing, unknown or of the wrong type.
 */
export function createOpenApiServer(document: string | object, options: OpenApiServerOptions): OpenApiServer {
  checkOptions('createOpenApiServer options', options, OPTIONS);
  const api = new ApiDocument(document);
  const { headers = {}, query = {}, timeoutMs = 30_000, maxResponseBytes = 1_048_576, fetch: send = fetch } = options;
  const settings: ApiSettings = { baseUrl: toBaseUrl(options.baseUrl), headers, query, timeoutMs, maxResponseBytes, fetch: send };
  // A parameter that several operations share is named once.
  const problems = new Map<string, OpenApiProblem>();
  const report = (problem: OpenApiProblem): void => void problems.set(`${problem.pointer} ${problem.message}`, problem);
  const server = new McpServer(options.info ?? infoOf(api), options.server);
  const headerNames = namesOf(headers).map((name) => name.toLowerCase());
  for (const operation of readOperations(api, { baseUrl: settings.baseUrl, headers: headerNames, query: namesOf(query) }, report)) {
    try {
      const tool = toTool(operation);
      const wanted = options.tools ? options.tools(tool) : tool;
      if (!wanted) continue;
      addTool(server, settings, operation, wanted);
      if (options.resources) addResource(server, settings, operation, wanted);
    } catch (error) {
      if (!isMortiseError(error)) throw error;
      report({ pointer: operation.pointer, message: error.message });
    }
  }
  return { server, problems: [...problems.values()] };
}

function toTool(operation: ApiOperation): OpenApiTool {
  const { method, path, operationId, tags, isDeprecated, summary: title } = operation;
  const name = toolName(operationId, method, path);
  return { name, title, description: describe(operation), method, path, operationId, tags, isDeprecated };
}

function addTool(server: McpServer, settings: ApiSettings, operation: ApiOperation, { name, title, description }: OpenApiTool): void {
  const { method, inputSchema } = operation;
  const annotations = {
    readOnlyHint: method === 'get',
    destructiveHint: method === 'delete' || method === 'put',
    idempotentHint: method === 'get' || method === 'put' || method === 'delete',
    openWorldHint: true,
  };
  const config = { title, description, inputSchema, annotations };
  server.registerTool(name, config, async (args, ctx) => toResult(await callApi(settings, operation, args, ctx)));
}

/** Offers a GET operation as a resource, unless it needs more than its path. */
function addResource(server: McpServer, settings: ApiSettings, operation: ApiOperation, tool: OpenApiTool): void {
  const { method, path } = operation;
  const { name, title, description } = tool;
  const { required = [] } = operation.inputSchema;
  const variables = operation.parameters.filter(({ in: place }) => place === 'path');
  if (method !== 'get' || (required as readonly unknown[]).length > variables.length) return;
  const config = { title, description };
  if (variables.length === 0) {
    server.registerResource(name, `openapi:${path}`, config, (uri, ctx) => readResource(settings, operation, uri, {}, ctx));
    return;
  }
  // A variable of a URI template has letters, digits and `_`; one of a path may have others.
  const named = variables.map((each, index) => ({ ...each, variable: `v${index}_${each.name.replaceAll(/\W/gu, '_')}` }));
  const template = named.reduce((text, each) => text.replaceAll(`{${each.name}}`, `{${each.variable}}`), path);
  server.registerResource(name, new ResourceTemplate(`openapi:${template}`, { list: undefined }), config, (uri, values, ctx) => {
    const args = Object.fromEntries(named.map(({ argument, variable }) => [argument, values[variable]]));
    return readResource(settings, operation, uri, args, ctx);
  });
}

async function readResource(
  settings: ApiSettings,
  operation: ApiOperation,
  uri: URL,
  args: Readonly<Record<string, unknown>>,
  ctx: HandlerContext,
): Promise<ReadContent | undefined> {
  const answer = await callApi(settings, operation, args, ctx).catch((error: unknown) => {
    // The model reads a ToolError; the client of a resource a ProtocolError.
    throw error instanceof ToolError ? new ProtocolError(INTERNAL_ERROR, error.message, undefined, { cause: error }) : error;
  });
  const { status, statusText, mediaType, bytes } = answer;
  if (status === 404) return undefined;
  if (status >= 400) throw new ProtocolError(INTERNAL_ERROR, `GET ${operation.path}: the API answers with ${status} ${statusText}`.trim());
  const place = { uri: String(uri), ...(mediaType !== '' && { mimeType: mediaType }) };
  return isText(mediaType) ? { ...place, text: textOf(answer) } : { ...place, blob: toBase64(bytes) };
}

function describe({ method, path, summary, description, isDeprecated }: ApiOperation): string {
  const text = [summary, description === summary ? undefined : description].filter((each) => each !== undefined).join('\n\n');
  return `${isDeprecated ? 'Deprecated. ' : ''}${text || `${method.toUpperCase()} ${path}`}`;
}

/** @throws {TypeError} It is no address that requests can be sent to. */
function toBaseUrl(given: string | URL): URL {
  const url = URL.canParse(String(given)) ? new URL(given) : undefined;
  if (!url || !/^https?:$/u.test(url.protocol) || url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '')
    throw new TypeError('createOpenApiServer options: baseUrl must be an http(s) address without user, query and fragment');
  return url;
}

function infoOf({ root }: ApiDocument): Implementation {
  const { title, version } = isJsonObject(root['info']) ? root['info'] : {};
  return { name: typeof title === 'string' ? title : 'openapi', version: typeof version === 'string' ? version : '1.0.0' };
}

function namesOf(values: ApiValues): readonly string[] {
  return typeof values === 'function' ? [] : Object.keys(values);
}
