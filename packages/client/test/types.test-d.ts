/** What must and must not compile. Checked by `tsc`; nothing here runs. */

import type { Connectable, JsonObject, Transport } from '@mortise/jsonrpc-core';
import type { CallToolResult, Prompt, Resource, ResourceTemplate, Tool } from '@mortise/protocol/model';
import type { McpEndpoint } from '@mortise/protocol/contracts';
import { defineTool, McpServer } from '@mortise/server';
import { expectTypeOf } from 'vitest';
import { z } from 'zod';
import { type ClientOptions, createClient, McpClient, type TypedToolResult } from '../src/index.ts';
import { connectInMemory } from '../src/in-memory.ts';
import { Client } from '../src/low-level.ts';

declare const transport: Transport;
const info = { name: 'c', version: '1' };
const client = await McpClient.connect(transport, info);

// Lists and calls have the types of the model.
expectTypeOf(client.tools()).toExtend<AsyncIterable<Tool>>();
expectTypeOf(client.prompts()).toExtend<AsyncIterable<Prompt>>();
expectTypeOf(client.resources()).toExtend<AsyncIterable<Resource>>();
expectTypeOf(client.resourceTemplates()).toExtend<AsyncIterable<ResourceTemplate>>();
expectTypeOf(client.callTool('x', { a: 1 })).resolves.toEqualTypeOf<CallToolResult>();
expectTypeOf(client.callTool({ name: 'x' })).resolves.toEqualTypeOf<CallToolResult>();
expectTypeOf(client.request('tools/list', {})).resolves.toHaveProperty('tools');
expectTypeOf(client.request('x.example/do', {})).resolves.toEqualTypeOf<JsonObject>();
// @ts-expect-error Arguments are JSON.
void client.callTool('x', { a: () => 1 });
// @ts-expect-error Prompts have arguments that are strings.
void client.getPrompt('x', { a: 1 });
// @ts-expect-error A misspelt method of MCP has the wrong parameters.
void client.request('tools/call', { nam: 'x' });
// @ts-expect-error The levels are eight.
void client.setLoggingLevel('warn');

// Options say what they take.
void McpClient.connect(transport, info, { era: 'legacy', requires: ['tools'], elicitation: () => ({ action: 'cancel' }) });
// @ts-expect-error There are two eras.
void McpClient.connect(transport, info, { era: 'old' });
// @ts-expect-error A user accepts, declines or cancels.
void McpClient.connect(transport, info, { elicitation: () => ({ action: 'ok' }) });
// @ts-expect-error A client has a version.
void McpClient.connect(transport, { name: 'c' });
void new Client(info, { roots: [{ uri: 'file:///a' }] } satisfies ClientOptions);

// A typed client knows the server's tools, their arguments and their output.
const server = new McpServer(info, {
  tools: {
    add: defineTool({ inputSchema: { a: z.number(), b: z.number().default(1) }, outputSchema: { sum: z.number() } }, ({ a, b }) => ({
      structuredContent: { sum: a + b },
    })),
    now: defineTool({}, () => 'late'),
  },
});
const typed = await createClient<typeof server>(transport, info);
expectTypeOf(typed.tools.add({ a: 1 })).resolves.toEqualTypeOf<TypedToolResult<{ sum: number }>>();
expectTypeOf(typed.tools.now()).resolves.toHaveProperty('content');
expectTypeOf(typed.tools()).toExtend<AsyncIterable<Tool>>();
expectTypeOf(typed).toExtend<McpClient>();
// @ts-expect-error There is no such tool.
void typed.tools.subtract({ a: 1 });
// @ts-expect-error An argument is missing.
void typed.tools.add({ b: 1 });
// @ts-expect-error An argument has the wrong type.
void typed.tools.add({ a: 'x' });
// @ts-expect-error The arguments are missing.
void typed.tools.add();
// @ts-expect-error This tool takes none.
void typed.tools.now({ a: 1 });

// In memory it takes any server, by structure.
declare const endpoint: McpEndpoint & Connectable;
expectTypeOf(connectInMemory(endpoint, { era: 'modern', via: 'channel' })).resolves.toEqualTypeOf<McpClient>();
expectTypeOf(connectInMemory(server)).resolves.toEqualTypeOf<McpClient>();

// What a client lists and gets is what a server registers and returns: a gateway needs no cast.
const { tools: listed } = await client.listTools();
for (const { name, ...rest } of listed) server.registerTool(name, rest, (args) => client.callTool(name, args));
for (const { name, inputSchema, outputSchema } of listed) {
  server.registerTool(name, { inputSchema, outputSchema }, (args) => client.callTool(name, args));
  if (outputSchema) server.registerTool(name, { inputSchema, outputSchema }, (args) => client.callTool(name, args));
  server.registerTool(name, { inputSchema, ...(outputSchema && { outputSchema }) }, async (args) =>
    client.callTool({ name, arguments: args }),
  );
  // @ts-expect-error Text alone is no result of a tool with an `outputSchema`.
  if (outputSchema) server.registerTool(name, { inputSchema, outputSchema }, () => 'three');
}
// @ts-expect-error Of a schema that is written here the compiler knows that it asks for `structuredContent`.
server.registerTool('x', { outputSchema: { type: 'array', items: { type: 'number' } } }, () => client.callTool('x'));
