/** A client whose tool calls are typed by the server's code. The program imports the server's type only, none of its code. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { CallToolResult, ContentBlock, Implementation, ResultMeta } from '@mortise/protocol/model';
import type { CallOptions, ClientOptions, ConnectOptions } from './client-options.ts';
import { ToolResultError } from './errors.ts';
import { McpClient } from './mcp-client.ts';
import type { ClientTransportSource } from './transport-source.ts';

/** The type of a server with typed tools, such as `McpServer`. `~tools` exists in the type only, not at run time. */
export interface ServerTools<Tools = unknown> {
  readonly '~tools'?: Tools;
}

/** The type of a tool from `defineTool`. `~types` exists in the type only, not at run time. */
export interface TypedTool<Input = unknown, Output = unknown> {
  readonly '~types'?: { readonly input: Input; readonly output: Output };
}

/** The result of a tool call that is typed by the server's code. */
export interface TypedToolResult<Output> {
  readonly content: readonly ContentBlock[];
  /** Typed by the tool's `outputSchema`; undefined for a tool without one. */
  readonly structuredContent: Output;
  readonly _meta?: ResultMeta | undefined;
}

/** A function that calls one tool. @throws {ToolResultError} `ERR_TOOL_FAILED`: the result has `isError`. */
export type ToolCall<Input, Output> = [Input] extends [undefined]
  ? (args?: Readonly<Record<string, never>>, options?: CallOptions) => Promise<TypedToolResult<Output>>
  : (args: Input, options?: CallOptions) => Promise<TypedToolResult<Output>>;

/** One function for each tool of a server, under the tool's name. */
export type ToolCalls<Tools> = {
  readonly [Name in keyof Tools]: Tools[Name] extends TypedTool<infer Input, infer Output>
    ? ToolCall<Input, Output>
    : ToolCall<JsonObject, unknown>;
};

/** An `McpClient` whose `tools` can also be called by name: `client.tools.add({ a: 1, b: 2 })`. */
export type TypedClient<Server extends ServerTools> = McpClient & {
  readonly tools: ToolCalls<NonNullable<Server['~tools']>>;
};

/**
 * Connects a client whose tool calls are typed by the server's code, without code generation.
 *
 * ```ts
 * import type { server } from './server.ts';
 * const client = await createClient<typeof server>(transport, { name: 'my-app', version: '1.0.0' });
 * const { structuredContent } = await client.tools.add({ a: 1, b: 2 });
 * ```
 *
 * Does NOT check that the connected server runs the code that the types come from.
 *
 * @throws As `McpClient.connect` does.
 */
export async function createClient<Server extends ServerTools>(
  source: ClientTransportSource,
  info: Implementation,
  options: ClientOptions & ConnectOptions = {},
): Promise<TypedClient<Server>> {
  const client = await McpClient.connect(source, info, options);
  const list = client.tools.bind(client);
  const call = async (name: string, args?: JsonObject, callOptions?: CallOptions): Promise<CallToolResult> =>
    expectSuccess(name, await client.callTool(name, args, callOptions));
  const tools = new Proxy(list, {
    get: (_list, name) =>
      typeof name === 'string' ? (args?: JsonObject, callOptions?: CallOptions) => call(name, args, callOptions) : undefined,
  });
  Object.defineProperty(client, 'tools', { value: tools });
  return client as TypedClient<Server>;
}

/**
 * Returns a tool's result unchanged, or throws if it has `isError`.
 *
 * Do not use it for calls on behalf of a model: the model should see the failed result.
 *
 * @param tool The tool's name, for the message.
 * @throws {ToolResultError} `ERR_TOOL_FAILED`, with the result as a member and its first text in the message.
 */
export function expectSuccess<R extends CallToolResult>(tool: string, result: R): R {
  if (result.isError !== true) return result;
  const text = result.content.find((block) => block.type === 'text');
  throw new ToolResultError('ERR_TOOL_FAILED', `the tool "${tool}" failed${text ? `: ${text.text}` : ''}`, tool, result);
}
