/** What must and must not compile. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type {
  CallToolResult,
  ClientCapabilities,
  ContentBlock,
  InitializeResult,
  ParamsOf,
  PrimitiveSchemaDefinition,
  Prompt,
  RequestMethod,
  Resource,
  ResultOf,
  Tool,
} from '@mortise/protocol/model';
import type { CallToolResultSchema } from '@mortise/protocol/schemas';
import { describe, expectTypeOf, it } from 'vitest';
import type { z } from 'zod';

describe('the canonical types', () => {
  it('are JSON objects, open to unknown members', () => {
    expectTypeOf<Tool>().toExtend<JsonObject>();
    expectTypeOf<Resource>().toExtend<JsonObject>();
    expectTypeOf<Prompt>().toExtend<JsonObject>();
    expectTypeOf<InitializeResult>().toExtend<JsonObject>();
    expectTypeOf<ClientCapabilities>().toExtend<JsonObject>();
    expectTypeOf<ContentBlock>().toExtend<JsonObject>();
    const tool: Tool = { name: 'a', inputSchema: { type: 'object', 'x-any': 1 }, 'com.example/extra': true };
    expectTypeOf(tool.name).toBeString();
  });

  it('tell blocks apart by their type', () => {
    const textOf = (block: ContentBlock): string =>
      block.type === 'text' ? block.text : block.type === 'resource' ? block.resource.uri : block.type;
    expectTypeOf(textOf).returns.toBeString();
  });

  it('refuse what is wrong', () => {
    // @ts-expect-error the root of an input schema is an object
    const tool: Tool = { name: 'a', inputSchema: { type: 'array' } };
    // @ts-expect-error content is mandatory
    const result: CallToolResult = { isError: true };
    // @ts-expect-error a field has a type
    const field: PrimitiveSchemaDefinition = { title: 'a' };
    // @ts-expect-error functions are no JSON
    const other: CallToolResult = { content: [], structuredContent: () => 1 };
    expectTypeOf([tool, result, field, other]).toBeArray();
  });

  it('go by method', () => {
    expectTypeOf<ParamsOf<'tools/call'>['name']>().toBeString();
    expectTypeOf<ResultOf<'tools/list'>['tools'][number]>().toEqualTypeOf<Tool>();
    expectTypeOf<ResultOf<'initialize'>>().toEqualTypeOf<InitializeResult>();
    // @ts-expect-error a misspelt method
    const method: RequestMethod = 'tool/call';
    expectTypeOf(method).toBeString();
  });

  it('are what the schemas give', () => {
    expectTypeOf<z.infer<typeof CallToolResultSchema>>().toEqualTypeOf<CallToolResult>();
  });
});
