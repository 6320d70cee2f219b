/** The tools of an `McpServer`: the list, and the call. */

import { isMortiseError, type JsonObject } from '@mortise/jsonrpc-core';
import { checkServerResult } from '@mortise/protocol/checks';
import type { ToolTaskHandler } from '../experimental/tasks/interfaces.ts';
import { isTerminal } from '../experimental/tasks/interfaces.ts';
import { read } from '../shared/read.ts';
import type { RequestHandlerExtra, RequestTaskStore } from '../shared/protocol.ts';
import { validateAndWarnToolName } from '../shared/toolNameValidation.ts';
import {
  type CallToolRequestParams,
  type CallToolResult,
  CallToolResultSchema,
  type CreateTaskResult,
  CreateTaskResultSchema,
  ErrorCode,
  McpError,
  type Result,
  type ServerNotification,
  type ServerRequest,
  type Tool,
} from '../types.ts';
import type { Server } from './index.ts';
import type { RegisteredTool } from './mcp-types.ts';
import { assignGiven, Items } from './registered.ts';
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

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;
type Callback = (...args: unknown[]) => unknown;

/** What a tool is registered with. */
export interface ToolInit extends Omit<
  Partial<RegisteredTool>,
  'inputSchema' | 'outputSchema' | 'enabled' | 'enable' | 'disable' | 'remove' | 'update' | 'handler'
> {
  readonly inputSchema?: ZodRawShapeCompat | AnySchema | undefined;
  readonly outputSchema?: ZodRawShapeCompat | AnySchema | undefined;
}

const NO_ARGUMENTS: Tool['inputSchema'] = { type: 'object', properties: {} };
const DEFAULT_POLL_MS = 5000;

export class Tools {
  readonly #server: Server;
  readonly #items: Items<RegisteredTool>;
  readonly #maxElements: number;
  readonly #onChange: () => void;
  #isServed = false;

  constructor(server: Server, all: Record<string, RegisteredTool>, maxElements: number, onChange: () => void) {
    this.#server = server;
    this.#items = new Items('Tool', all, onChange);
    this.#maxElements = maxElements;
    this.#onChange = onChange;
  }

  /** Sets the handlers of tools, once. */
  serve(): void {
    if (this.#isServed) return;
    const server = this.#server;
    server.assertCanSetRequestHandler('tools/list');
    server.assertCanSetRequestHandler('tools/call');
    server.registerCapabilities({ tools: { listChanged: true } });
    server._setHandler('tools/list', () => ({ tools: this.#items.enabled.map(([name, tool]) => toListed(name, tool)) }));
    server._setHandler('tools/call', ({ params }, extra) => this.#call(params as CallToolRequestParams, extra as unknown as Extra));
    this.#isServed = true;
  }

  assertFree(name: string): void {
    this.#items.assertFree(name);
  }

  register(name: string, { inputSchema, outputSchema, ...init }: ToolInit, handler: unknown): RegisteredTool {
    validateAndWarnToolName(name);
    const { move, ...handle } = this.#items.handle(name, () => tool);
    const tool: RegisteredTool = {
      ...init,
      inputSchema: toSchema(inputSchema),
      outputSchema: toSchema(outputSchema),
      handler: handler as RegisteredTool['handler'],
      enabled: true,
      ...handle,
      update: ({ name: to, paramsSchema, outputSchema: output, callback, ...changes }) => {
        if (typeof to === 'string') validateAndWarnToolName(to);
        move(to);
        assignGiven(tool, {
          ...changes,
          inputSchema: paramsSchema && objectFromShape(paramsSchema),
          outputSchema: output && objectFromShape(output),
          handler: callback as RegisteredTool['handler'] | undefined,
        });
        this.#onChange();
      },
    };
    this.#items.all[name] = tool;
    this.serve();
    this.#onChange();
    return tool;
  }

  async #call(params: CallToolRequestParams, extra: Extra): Promise<Result> {
    try {
      const result = await this.#run(params, extra);
      if (params.task) return read(CreateTaskResultSchema, result, 'Invalid task creation result');
      return readResult(result);
    } catch (error) {
      if (isForClient(error)) throw error;
      return { content: [{ type: 'text', text: error instanceof Error ? error.message : String(error) }], isError: true };
    }
  }

  async #run(params: CallToolRequestParams, extra: Extra): Promise<unknown> {
    const { name, task } = params;
    const tool = this.#items.find(name);
    if (!tool) throw new McpError(ErrorCode.InvalidParams, `Tool ${name} not found`);
    if (!tool.enabled) throw new McpError(ErrorCode.InvalidParams, `Tool ${name} disabled`);
    const { handler } = tool;
    const support = tool.execution?.taskSupport;
    const isTask = 'createTask' in handler;
    const allowsTasks = support === 'required' || support === 'optional';
    if (allowsTasks && !isTask)
      throw new McpError(ErrorCode.InternalError, `Tool ${name} has taskSupport '${support}' but was not registered with registerToolTask`);
    if (support === 'required' && !task && !this.#server._isWithoutTasks)
      throw new McpError(ErrorCode.MethodNotFound, `Tool ${name} requires task augmentation (taskSupport: 'required')`);
    const args = await this.#readArguments(name, tool, params.arguments);
    const hasArguments = tool.inputSchema !== undefined;
    if (isTask) return runTask(handler as unknown as ToolTaskHandler, hasArguments ? [args] : [], extra, task !== undefined);
    const callback = handler as Callback;
    const result = await (hasArguments ? callback(args, extra) : callback(extra));
    await checkOutput(name, tool, result);
    return result;
  }

  async #readArguments(name: string, { inputSchema }: RegisteredTool, args: unknown): Promise<unknown> {
    if (countElements(args, this.#maxElements) > this.#maxElements)
      throw new McpError(
        ErrorCode.InvalidParams,
        `Invalid arguments for tool ${name}: arguments contain more than the maximum of ${this.#maxElements} elements`,
      );
    if (!inputSchema) return undefined;
    const outcome = await safeParseMaybeAsync(inputSchema, args ?? {});
    if (outcome.success) return outcome.data;
    throw new McpError(
      ErrorCode.InvalidParams,
      `Input validation error: Invalid arguments for tool ${name}: ${getParseErrorMessage(outcome.error)}`,
    );
  }
}

/** Reads what a tool returned. What our own check finds right is not read again by the schema, which takes longer than the call. */
function readResult(result: unknown): Result {
  const { content, structuredContent } = (result ?? {}) as Partial<CallToolResult>;
  const isPlain = content !== undefined && (structuredContent === undefined || typeof structuredContent === 'object');
  if (isPlain && checkServerResult('tools/call', result as JsonObject) === undefined) return result as Result;
  return read(CallToolResultSchema, result, 'Invalid tools/call result');
}

/** Whether a tool's error is for the client, or our server, and not for the model. */
function isForClient(error: unknown): boolean {
  if (isMortiseError(error)) return error.code === 'ERR_SUSPENDED';
  return error instanceof McpError && error.code === ErrorCode.UrlElicitationRequired;
}

async function checkOutput(name: string, { outputSchema }: RegisteredTool, result: unknown): Promise<void> {
  const { isError, structuredContent, content } = (result ?? {}) as Partial<CallToolResult>;
  if (!outputSchema || isError || content === undefined) return;
  if (!structuredContent)
    throw new McpError(
      ErrorCode.InvalidParams,
      `Output validation error: Tool ${name} has an output schema but no structured content was provided`,
    );
  const outcome = await safeParseMaybeAsync(outputSchema, structuredContent);
  if (outcome.success) return;
  throw new McpError(
    ErrorCode.InvalidParams,
    `Output validation error: Invalid structured content for tool ${name}: ${getParseErrorMessage(outcome.error)}`,
  );
}

// ---- tools that run as tasks

/** Starts the task. Without a client that follows it, waits for its result. */
async function runTask(
  { createTask }: ToolTaskHandler,
  args: readonly unknown[],
  extra: Extra,
  isFollowed: boolean,
): Promise<CreateTaskResult | Result> {
  const { taskStore } = extra;
  if (!taskStore) throw new Error('No task store provided.');
  const created = (await (createTask as Callback)(...args, extra)) as CreateTaskResult;
  return isFollowed ? created : waitForTask(created, taskStore);
}

async function waitForTask({ task }: CreateTaskResult, store: RequestTaskStore): Promise<Result> {
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

function toListed(name: string, { title, description, inputSchema, outputSchema, annotations, execution, _meta }: RegisteredTool): Tool {
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
const made = { input: new WeakMap<AnySchema, Tool['inputSchema']>(), output: new WeakMap<AnySchema, Tool['inputSchema']>() };

function toJsonSchema(schema: AnySchema | undefined, side: 'input' | 'output'): Tool['inputSchema'] | undefined {
  const object = normalizeObjectSchema(schema);
  if (!object) return undefined;
  let known = made[side].get(object);
  if (!known) {
    known = toJsonSchemaCompat(object, { strictUnions: true, pipeStrategy: side }) as Tool['inputSchema'];
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
