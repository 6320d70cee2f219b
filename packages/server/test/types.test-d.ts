/** What must compile and what must not; `tsc -p packages/server` is the test. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { SchemaAdapter } from '@mortise/protocol/contracts';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { expectTypeOf } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod-3-25/v3';
import { z as z40 } from 'zod-4-0';
import { completable, definePrompt, defineResource, defineTool, type HandlerContext, McpServer, ResourceTemplate } from '../src/index.ts';
import type { InferInput, InferOutput, ToolDefinition } from '../src/types.ts';
import { files } from '../src/node.ts';
import { fromZod, fromZodV3 } from '../src/zod.ts';

declare const server: McpServer;
declare const record: (value: z.ZodType) => z.ZodType;

// Arguments have the schema's output type: a field with a default is there, an optional one may not be.
const shape = {
  a: z.number(),
  withDefault: z.string().default('x'),
  maybe: z.boolean().optional(),
  orNull: z.string().nullable(),
  text: z.string().transform((text) => text.length),
  anything: z.any(),
  perhapsAnything: z.unknown().optional(),
};
interface Output {
  a: number;
  withDefault: string;
  maybe?: boolean | undefined;
  orNull: string | null;
  text: number;
  anything: unknown;
}
interface Input {
  a: number;
  withDefault?: string | undefined;
  maybe?: boolean | undefined;
  orNull: string | null;
  text: string;
  anything: unknown;
}
expectTypeOf<InferOutput<typeof shape>>().toExtend<Output>();
expectTypeOf<Pick<InferOutput<typeof shape>, 'a' | 'withDefault' | 'maybe' | 'orNull' | 'text'>>().toEqualTypeOf<
  Omit<Output, 'anything'>
>();
expectTypeOf<InferInput<typeof shape>>().toExtend<Input>();
expectTypeOf<{ a: number; orNull: null; text: string; anything: 1 }>().toExtend<InferInput<typeof shape>>();
// @ts-expect-error `anything` may be anything, but it must be there
expectTypeOf<{ a: number; orNull: null; text: string }>().toExtend<InferInput<typeof shape>>();

// Whole objects, other libraries, JSON Schema, adapters.
const object = z.object(shape);
expectTypeOf<InferOutput<typeof object>>().toEqualTypeOf<z.output<typeof object>>();
const union = z.discriminatedUnion('kind', [z.object({ kind: z.literal('a'), n: z.number() }), z.object({ kind: z.literal('b') })]);
expectTypeOf<InferOutput<typeof union>>().toEqualTypeOf<{ kind: 'a'; n: number } | { kind: 'b' }>();
const ark = type({ a: 'number', 'b?': 'string' });
expectTypeOf<InferOutput<typeof ark>>().toEqualTypeOf<{ a: number; b?: string }>();
const valibot = toStandardJsonSchema(v.object({ a: v.number(), b: v.optional(v.string(), 'q') }));
expectTypeOf<InferOutput<typeof valibot>>().toEqualTypeOf<{ a: number; b: string }>();
expectTypeOf<InferInput<typeof valibot>>().toEqualTypeOf<{ a: number; b?: string | undefined }>();
const mixed = { a: z.number(), b: toStandardJsonSchema(v.string()), c: type('boolean') };
expectTypeOf<InferOutput<typeof mixed>>().toEqualTypeOf<{ a: number; b: string; c: boolean }>();
expectTypeOf<InferOutput<{ readonly type: 'object'; readonly properties: object }>>().toEqualTypeOf<JsonObject>();
expectTypeOf<InferOutput<{ readonly type: 'array'; readonly items: object }>>().toEqualTypeOf<unknown>();
expectTypeOf<InferOutput<SchemaAdapter<{ a: number }>>>().toEqualTypeOf<{ a: number }>();
const old = fromZod(z40)({ a: z40.number(), b: z40.string().optional(), c: z40.string().default('x') });
expectTypeOf<InferOutput<typeof old>>().toEqualTypeOf<{ a: number; b?: string | undefined; c: string }>();
const older = fromZodV3(() => ({}))(z3.object({ a: z3.number(), b: z3.string().default('x') }));
expectTypeOf<InferOutput<typeof older>>().toEqualTypeOf<{ a: number; b: string }>();
expectTypeOf<InferInput<typeof older>>().toEqualTypeOf<{ a: number; b?: string | undefined }>();

// Handlers: `(args, ctx)` with a schema, `(ctx)` without.
server.registerTool(
  'add',
  { inputSchema: { a: z.number(), b: z.number().default(1) }, outputSchema: { sum: z.number() } },
  ({ a, b }, ctx) => {
    expectTypeOf(a).toEqualTypeOf<number>();
    expectTypeOf(b).toEqualTypeOf<number>();
    expectTypeOf(ctx).toEqualTypeOf<HandlerContext>();
    return { structuredContent: { sum: a + b } };
  },
);
server.registerTool('ping', { description: 'No arguments' }, (ctx) => {
  expectTypeOf(ctx).toEqualTypeOf<HandlerContext>();
  return 'pong';
});
server.registerTool('plain', { inputSchema: { type: 'object', properties: { a: { type: 'string' } } } }, (args) => {
  expectTypeOf(args).toEqualTypeOf<JsonObject>();
  return String(args['a']);
});
server.registerTool('union', { inputSchema: union }, (args) => (args.kind === 'a' ? String(args.n) : 'b'));

// Short forms of results, and structured content that has the schema's input type.
server.registerTool('text', {}, async () => 'text');
server.registerTool('block', {}, () => ({ type: 'text', text: 'x' }));
server.registerTool('blocks', {}, () => [
  { type: 'text', text: 'x' },
  { type: 'image', data: 'AA==', mimeType: 'image/png' },
]);
server.registerTool('failed', { outputSchema: { sum: z.number() } }, () => ({ content: [{ type: 'text', text: 'no' }], isError: true }));
server.registerTool('default', { outputSchema: { sum: z.number(), unit: z.string().default('m') } }, () => ({
  structuredContent: { sum: 1 },
}));
server.registerTool('list', { outputSchema: z.array(z.number()) }, () => ({ structuredContent: [1] }));
// @ts-expect-error the output schema says number
server.registerTool('wrong', { outputSchema: { sum: z.number() } }, () => ({ structuredContent: { sum: 'x' } }));
// @ts-expect-error a number is no result
server.registerTool('wrong', {}, () => 42);
// @ts-expect-error there is no argument c
server.registerTool('wrong', { inputSchema: { a: z.number() } }, ({ c }) => String(c));
// @ts-expect-error an inputSchema is a schema
server.registerTool('wrong', { inputSchema: 5 }, () => 'x');
declare const fromFile: { type: string; properties: { a: { type: string } } };
server.registerTool('file', { inputSchema: fromFile }, (args) => String(args['a']));
server.registerTool('plain list', { outputSchema: { type: 'array', items: { type: 'number' } } }, () => ({ structuredContent: [1] }));

// The seeds' examples, to the letter but for `record`.
server.registerTool(
  'query',
  {
    title: 'SQL Query',
    description: 'Execute SQL',
    inputSchema: { sql: z.string() },
    outputSchema: { rows: z.array(record(z.any())), rowCount: z.number() },
  },
  async ({ sql }) => {
    try {
      const results = await Promise.resolve([sql]);
      const output = { rows: results, rowCount: results.length };
      return { content: [{ type: 'text', text: JSON.stringify(output, null, 2) }], structuredContent: output };
    } catch (err: unknown) {
      const error = err as Error;
      return { content: [{ type: 'text', text: `Error: ${error.message}` }], isError: true };
    }
  },
);
server.registerResource(
  'echo',
  new ResourceTemplate('echo://{message}', { list: undefined }),
  { title: 'Echo Resource' },
  async (uri, { message }) => ({
    contents: [{ uri: uri.href, text: `Resource echo: ${String(message)}` }],
  }),
);
server.registerPrompt('echo', { title: 'Echo Prompt', argsSchema: { message: z.string() } }, ({ message }) => ({
  messages: [{ role: 'user', content: { type: 'text', text: `Please process this message: ${message}` } }],
}));

// Completion keeps the field's type.
server.registerPrompt('review', { argsSchema: { language: completable(z.enum(['js', 'ts']), (typed) => [typed]) } }, ({ language }) => {
  expectTypeOf(language).toEqualTypeOf<'js' | 'ts'>();
  return language;
});

// Values know their types, for typed clients, and servers take them.
const add = defineTool(
  { inputSchema: { a: z.number(), b: z.number().default(1) }, outputSchema: { sum: z.number().default(0) } },
  ({ a, b }) => ({
    structuredContent: { sum: a + b },
  }),
);
type AddTypes = NonNullable<(typeof add)['~types']>;
expectTypeOf<AddTypes['input']>().toEqualTypeOf<{ a: number; b?: number | undefined }>();
expectTypeOf<AddTypes['output']>().toEqualTypeOf<{ sum: number }>();
const ping = defineTool({}, () => 'pong');
expectTypeOf<NonNullable<(typeof ping)['~types']>['input']>().toEqualTypeOf<undefined>();
expectTypeOf(ping).toExtend<ToolDefinition<undefined, undefined>>();
const greet = definePrompt({ argsSchema: { name: z.string() } }, ({ name }) => `Greet ${name}`);
const readme = defineResource('docs://readme', { mimeType: 'text/plain' }, () => 'hello');
const docs = files('./docs');
const served = new McpServer({ name: 's', version: '1' }, { tools: { add, ping }, prompts: { greet }, resources: { readme, docs } });
expectTypeOf<NonNullable<(typeof served)['~tools']>['add']>().toEqualTypeOf<typeof add>();

// The app context reaches handlers by type.
interface App {
  readonly tenant: string;
}
const withApp = new McpServer<Record<never, never>, App>({ name: 's', version: '1' }, { context: () => ({ tenant: 't' }) });
withApp.registerTool('who', {}, (ctx) => ctx.app.tenant);
withApp.use((call, next) => {
  expectTypeOf(call.app).toEqualTypeOf<App>();
  return next();
});

// A tool with an `outputSchema` gives what it says, or says that it failed: text alone would be refused when it runs.
// @ts-expect-error Text is no structured content.
server.registerTool('text', { outputSchema: { sum: z.number() } }, () => 'three');
// @ts-expect-error Neither is content.
server.registerTool('content', { outputSchema: { sum: z.number() } }, () => ({ content: [{ type: 'text', text: '3' }] }));
server.registerTool('failed', { outputSchema: { sum: z.number() } }, (ctx) =>
  ctx.signal.aborted ? { isError: true, content: [{ type: 'text', text: 'No' }] } : { structuredContent: { sum: 3 } },
);
