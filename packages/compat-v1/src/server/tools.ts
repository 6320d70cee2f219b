/** The tools of an `McpServer`: the list, and the call. */

import { isMortiseError, type JsonObject } from '@mortise/jsonrpc-core';
import { checkServerResult } from '@mortise/protocol/checks';
import type { ToolTaskHandler } from '../experimental/tasks/interfaces.ts';
import { isTerminal } from '../experimental/tasks/interfaces.ts';
import { read } from '../shared/read.ts';
import type { RequestHandlerExtra, RequestTaskStore } from '../shared/protocol.ts';
import { validateAndWarnToolName } from '../shared/toolNameValidation.ts';
import * as v1 from '../types.ts';
import type { Server } from './index.ts';
import type { RegisteredTool } from './mcp-types.ts';
import { Items, onceServing } from './registered.ts';
import {
  type AnySchema,
  getParseErrorMessage,
  isSchema,
  isShape,
  normalizeObjectSchema,
  objectFromShape,
  safeParseMaybeAsync,
  type ZodRawShapeCompat,
} from './zod-compat.ts';
import { toJsonSchemaCompat } from './zod-json-schema-compat.ts';

type Extra = RequestHandlerExtra<v1.ServerRequest, v1.ServerNotification>;
type Callback = (...args: unknown[]) => unknown;

/** What a tool is registered with. */
export interface ToolInit extends Omit<
  Partial<RegisteredTool>,
  'inputSchema' | 'outputSchema' | 'enabled' | 'enable' | 'disable' | 'remove' | 'update' | 'handler'
> {
  readonly inputSchema?: ZodRawShapeCompat | AnySchema | undefined;
  readonly outputSchema?: ZodRawShapeCompat | AnySchema | undefined;
}

const NO_ARGUMENTS: v1.Tool['inputSchema'] = { type: 'object', properties: {} };
const DEFAULT_POLL_MS = 5000;

export class Tools {
  /** Sets the handlers of tools, once. */
  readonly serve: () => void;
  readonly #server: Server;
  readonly #items: Items<RegisteredTool>;
  readonly #maxElements: number;

  constructor(server: Server, all: Record<string, RegisteredTool>, maxElements: number, onChange: () => void) {
    this.#server = server;
    this.#items = new Items('Tool', all, onChange);
    this.#maxElements = maxElements;
    this.serve = onceServing(
      server,
      { tools: { listChanged: true } },
      {
        'tools/list': () => ({ tools: this.#items.enabled.map(([name, tool]) => toListed(name, tool)) }),
        'tools/call': ({ params }, extra: Extra) => this.#call(params as v1.CallToolRequestParams, extra),
      },
    );
  }

  assertFree(name: string): void {
    this.#items.assertFree(name);
  }

  register(name: string, { inputSchema, outputSchema, ...init }: ToolInit, handler: unknown): RegisteredTool {
    validateAndWarnToolName(name);
    const parts = {
      ...init,
      inputSchema: toSchema(inputSchema),
      outputSchema: toSchema(outputSchema),
      handler: handler as RegisteredTool['handler'],
    };
    this.serve();
    return this.#items.add(name, parts, ({ name: to, paramsSchema, outputSchema: output, callback, ...changes }) => {
      if (typeof to === 'string') validateAndWarnToolName(to);
      return {
        ...changes,
        to,
        inputSchema: paramsSchema && objectFromShape(paramsSchema),
        outputSchema: output && objectFromShape(output),
        handler: callback as RegisteredTool['handler'] | undefined,
      };
    });
  }

  async #call(params: v1.CallToolRequestParams, extra: Extra): Promise<v1.Result> {
    const result = await this.#run(params, extra).catch((error: unknown) => {
      if (isForClient(error)) throw error;
      return { content: [{ type: 'text', text: error instanceof Error ? error.message : String(error) }], isError: true };
    });
    if (params.task) return read(v1.CreateTaskResultSchema, result, 'Invalid task creation result');
    return readResult(result);
  }

  async #run(params: v1.CallToolRequestParams, extra: Extra): Promise<unknown> {
    const { name, task } = params;
    const tool = this.#items.find(name);
    if (!tool) throw new v1.McpError(v1.ErrorCode.InvalidParams, `Tool ${name} not found`);
    if (!tool.enabled) throw new v1.McpError(v1.ErrorCode.InvalidParams, `Tool ${name} disabled`);
    const { handler } = tool;
    const support = tool.execution?.taskSupport;
    const isTask = 'createTask' in handler;
    const allowsTasks = support === 'required' || support === 'optional';
    if (allowsTasks && !isTask)
      throw new v1.McpError(
        v1.ErrorCode.InternalError,
        `Tool ${name} has taskSupport '${support}' but was not registered with registerToolTask`,
      );
    if (support === 'required' && !task && !this.#server._isWithoutTasks)
      throw new v1.McpError(v1.ErrorCode.MethodNotFound, `Tool ${name} requires task augmentation (taskSupport: 'required')`);
    const args = await this.#readArguments(name, tool, params.arguments);
    const hasArguments = tool.inputSchema !== undefined;
    if (isTask) return runTask(handler as unknown as ToolTaskHandler, hasArguments ? [args] : [], extra, task !== undefined);
    const callback = handler as Callback;
    const result = await (hasArguments ? callback(args, extra) : callback(extra));
    await checkOutput(name, tool, result);
    return result;
  }

  #readArguments(name: string, { inputSchema }: RegisteredTool, args: unknown): Promise<unknown> | undefined {
    if (countElements(args, this.#maxElements) > this.#maxElements)
      throw new v1.McpError(
        v1.ErrorCode.InvalidParams,
        `Invalid arguments for tool ${name}: arguments contain more than the maximum of ${this.#maxElements} elements`,
      );
    return inputSchema && readBySchema(inputSchema, args ?? {}, `Input validation error: Invalid arguments for tool ${name}`);
  }
}

/** Reads a value by a schema. @throws {McpError} `problem`, and what the schema says. */
async function readBySchema(schema: AnySchema, value: unknown, problem: string): Promise<unknown> {
  const outcome = await safeParseMaybeAsync(schema, value);
  if (outcome.success) return outcome.data;
  throw new v1.McpError(v1.ErrorCode.InvalidParams, `${problem}: ${getParseErrorMessage(outcome.error)}`);
}

/** Reads what a tool returned. Our own check comes first, because the schema takes longer than the whole call. */
function readResult(result: unknown): v1.Result {
  const { content, structuredContent } = (result ?? {}) as Partial<v1.CallToolResult>;
  const isPlain = content !== undefined && (structuredContent === undefined || typeof structuredContent === 'object');
  if (isPlain && checkServerResult('tools/call', result as JsonObject) === undefined) return result as v1.Result;
  return read(v1.CallToolResultSchema, result, 'Invalid tools/call result');
}

/** Whether a tool's error is for the client, or our server, and not for the model. */
function isForClient(error: unknown): boolean {
  if (isMortiseError(error)) return error.code === 'ERR_SUSPENDED';
  return error instanceof v1.McpError && error.code === v1.ErrorCode.UrlElicitationRequired;
}

/** @throws {McpError} The output does not fit. */
async function checkOutput(name: string, { outputSchema }: RegisteredTool, result: unknown): Promise<void> {
  const { isError, structuredContent, content } = (result ?? {}) as Partial<v1.CallToolResult>;
  if (!outputSchema || isError || content === undefined) return;
  if (!structuredContent)
    throw new v1.McpError(
      v1.ErrorCode.InvalidParams,
      `Output validation error: Tool ${name} has an output schema but no structured content was provided`,
    );
  await readBySchema(outputSchema, structuredContent, `Output validation error: Invalid structured content for tool ${name}`);
}

// ---- tools that run as tasks

/** Starts the task. Without a client that follows it, waits for its result. */
async function runTask(
  { createTask }: ToolTaskHandler,
  args: readonly unknown[],
  extra: Extra,
  isFollowed: boolean,
): Promise<v1.CreateTaskResult | v1.Result> {
  const { taskStore } = extra;
  if (!taskStore) throw new Error('No task store provided.');
  const created = (await (createTask as Callback)(...args, extra)) as v1.CreateTaskResult;
  return isFollowed ? created : waitForTask(created, taskStore);
}

async function waitForTask({ task }: v1.CreateTaskResult, store: RequestTaskStore): Promise<v1.Result> {
  const { taskId, pollInterval = DEFAULT_POLL_MS } = task;
  for (let { status } = task; !isTerminal(status); { status } = await store.getTask(taskId))
    await new Promise((resolve) => setTimeout(resolve, pollInterval));
  return store.getTaskResult(taskId);
}

// ---- schemas

function toSchema(schema: ZodRawShapeCompat | AnySchema | undefined): AnySchema | undefined {
  if (!schema) return undefined;
  if (isShape(schema)) return objectFromShape(schema);
  if (isSchema(schema)) return schema;
  throw new Error('inputSchema must be a Zod schema or raw shape, received an unrecognized object');
}

function toListed(name: string, { title, description, inputSchema, outputSchema, annotations, execution, _meta }: RegisteredTool): v1.Tool {
  const output = toJsonSchema(outputSchema, 'output');
  return {
    name,
    title,
    description,
    inputSchema: toJsonSchema(inputSchema, 'input') ?? NO_ARGUMENTS,
    annotations,
    execution,
    _meta,
    ...(output && { outputSchema: output }),
  };
}

/** JSON Schemas that were made before. A schema does not change. */
const made = { input: new WeakMap<AnySchema, v1.Tool['inputSchema']>(), output: new WeakMap<AnySchema, v1.Tool['inputSchema']>() };

function toJsonSchema(schema: AnySchema | undefined, side: 'input' | 'output'): v1.Tool['inputSchema'] | undefined {
  const object = normalizeObjectSchema(schema);
  if (!object) return undefined;
  let known = made[side].get(object);
  if (!known) {
    known = toJsonSchemaCompat(object, { strictUnions: true, pipeStrategy: side }) as v1.Tool['inputSchema'];
    made[side].set(object, known);
  }
  return known;
}

/** Counts the members of objects and arrays, down to the last, and stops above the maximum. */
function countElements(value: unknown, max: number): number {
  if (max === Infinity) return 0;
  let count = 0;
  const waiting: unknown[] = [value];
  for (let next = waiting.pop(); waiting.length > 0 || next !== undefined; next = waiting.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    const members: readonly unknown[] = Object.values(next);
    count += members.length;
    if (count > max) return count;
    waiting.push(...members.filter((member) => typeof member === 'object' && member !== null));
  }
  return count;
}
