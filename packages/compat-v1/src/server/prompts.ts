/** The prompts of an `McpServer`. */

import type { RequestHandlerExtra } from '../shared/protocol.ts';
import {
  ErrorCode,
  type GetPromptRequestParams,
  McpError,
  type PromptArgument,
  type Result,
  type ServerNotification,
  type ServerRequest,
} from '../types.ts';
import { isCompletable } from './completable.ts';
import type { Server } from './index.ts';
import type { PromptArgsRawShape, RegisteredPrompt } from './mcp-types.ts';
import { assignGiven, Items } from './registered.ts';
import {
  type AnyObjectSchema,
  type AnySchema,
  getObjectShape,
  getParseErrorMessage,
  getSchemaDescription,
  isSchemaOptional,
  objectFromShape,
  safeParseAsync,
} from './zod-compat.ts';

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

export class Prompts {
  readonly items: Items<RegisteredPrompt>;
  readonly #server: Server;
  readonly #onChange: () => void;
  #isServed = false;

  constructor(server: Server, all: Record<string, RegisteredPrompt>, onChange: () => void) {
    this.#server = server;
    this.items = new Items('Prompt', all, onChange);
    this.#onChange = onChange;
  }

  /** Sets the handlers of prompts, once. */
  serve(): void {
    if (this.#isServed) return;
    const server = this.#server;
    server.assertCanSetRequestHandler('prompts/list');
    server.assertCanSetRequestHandler('prompts/get');
    server.registerCapabilities({ prompts: { listChanged: true } });
    server._setHandler('prompts/list', () => ({
      prompts: this.items.enabled.map(([name, { title, description, argsSchema }]) => ({
        name,
        title,
        description,
        arguments: argsSchema && toArguments(argsSchema),
      })),
    }));
    server._setHandler('prompts/get', ({ params }, extra) => this.#get(params as GetPromptRequestParams, extra as unknown as Extra));
    this.#isServed = true;
  }

  /** Finds a prompt. @throws {McpError} There is none of the name, or it is disabled. */
  find(name: string): RegisteredPrompt {
    const prompt = this.items.find(name);
    if (!prompt) throw new McpError(ErrorCode.InvalidParams, `Prompt ${name} not found`);
    if (!prompt.enabled) throw new McpError(ErrorCode.InvalidParams, `Prompt ${name} disabled`);
    return prompt;
  }

  register(
    name: string,
    { title, description }: { title?: string | undefined; description?: string | undefined },
    args: PromptArgsRawShape | undefined,
    callback: unknown,
  ): RegisteredPrompt {
    this.items.assertFree(name);
    const { move, ...handle } = this.items.handle(name, () => prompt);
    const prompt: RegisteredPrompt = {
      title,
      description,
      argsSchema: args && objectFromShape(args),
      callback: callback as RegisteredPrompt['callback'],
      enabled: true,
      ...handle,
      update: ({ name: to, argsSchema, callback: next, ...changes }) => {
        move(to);
        assignGiven(prompt, {
          ...changes,
          argsSchema: argsSchema && objectFromShape(argsSchema),
          callback: next as RegisteredPrompt['callback'] | undefined,
        });
        this.#onChange();
      },
    };
    this.items.all[name] = prompt;
    this.serve();
    this.#onChange();
    return prompt;
  }

  async #get({ name, arguments: given = {} }: GetPromptRequestParams, extra: Extra): Promise<Result> {
    const { argsSchema, callback } = this.find(name);
    const run = callback as unknown as (...args: unknown[]) => Result | Promise<Result>;
    if (!argsSchema) return run(extra);
    const outcome = await safeParseAsync(argsSchema, given);
    if (outcome.success) return run(outcome.data, extra);
    throw new McpError(ErrorCode.InvalidParams, `Invalid arguments for prompt ${name}: ${getParseErrorMessage(outcome.error)}`);
  }
}

function toArguments(schema: AnyObjectSchema): PromptArgument[] {
  return Object.entries(getObjectShape(schema) ?? {}).map(([name, field]) => ({
    name,
    description: getSchemaDescription(field),
    required: !isSchemaOptional(field),
  }));
}

/** Returns the schema that carries a field's completer: the field itself, or what it makes optional. */
export function completableOf(field: AnySchema | undefined): AnySchema | undefined {
  if (field === undefined || isCompletable(field)) return field;
  const { _def } = field as { readonly _def?: { readonly innerType?: AnySchema } };
  return isCompletable(_def?.innerType) ? _def?.innerType : undefined;
}
