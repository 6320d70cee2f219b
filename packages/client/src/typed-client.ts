/** A client whose calls are typed by the server's own code. The two meet in a type, never in an import. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { CallToolResult, ContentBlock, Implementation, ResultMeta } from '@mortise/protocol/model';
import type { CallOptions, ClientOptions, ConnectOptions } from './client-options.ts';
import { ToolResultError } from './errors.ts';
import { McpClient } from './mcp-client.ts';
import type { ClientTransportSource } from './transport-source.ts';

/** A server that was given its tools as values; `McpServer` is one. Its `~tools` is never there at run time. */
export interface ServerTools<Tools = unknown> {
  readonly '~tools'?: Tools;
}

/** A tool as a value, as `defineTool` makes them. Its `~types` is never there at run time. */
export interface TypedTool<Input = unknown, Output = unknown> {
  readonly '~types'?: { readonly input: Input; readonly output: Output };
}

/** What a typed call gives. */
export interface TypedToolResult<Output> {
  readonly content: readonly ContentBlock[];
  /** As the tool's `outputSchema` says; undefined for a tool that has none. */
  readonly structuredContent: Output;
  readonly _meta?: ResultMeta | undefined;
}

/** Calls one tool. @throws {ToolResultError} `ERR_TOOL_FAILED`: the tool answered with `isError`. */
export type ToolCall<Input, Output> = [Input] extends [undefined]
  ? (args?: Readonly<Record<string, never>>, options?: CallOptions) => Promise<TypedToolResult<Output>>
  : (args: Input, options?: CallOptions) => Promise<TypedToolResult<Output>>;

/** The tools of a server, by name. */
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
 * Connects a client that is typed by the server's code, with nothing generated.
 *
 * ```ts
 * import type { server } from './server.ts';
 * const client = await createClient<typeof server>(transport, { name: 'my-app', version: '1.0.0' });
 * const { structuredContent } = await client.tools.add({ a: 1, b: 2 });
 * ```
 *
 * The types are those of the code that was compiled: whether the server at the other end is of that code is not checked.
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
 * Gives a tool's result back, unless it says `isError`.
 *
 * A program that calls on behalf of a model should not use this: the model is to see what went wrong.
 *
 * @param tool The tool's name, for the message.
 * @throws {ToolResultError} `ERR_TOOL_FAILED`, with the result and its first text as the message.
 */
export function expectSuccess<R extends CallToolResult>(tool: string, result: R): R {
  if (result.isError !== true) return result;
  const text = result.content.find((block) => block.type === 'text');
  throw new ToolResultError('ERR_TOOL_FAILED', `the tool "${tool}" failed${text ? `: ${text.text}` : ''}`, tool, result);
}
