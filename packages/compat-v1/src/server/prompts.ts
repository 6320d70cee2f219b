/** The prompts of an `McpServer`. */

import type { RequestHandlerExtra } from '../shared/protocol.ts';
import * as v1 from '../types.ts';
import { isCompletable } from './completable.ts';
import type { Server } from './index.ts';
import type { PromptArgsRawShape, RegisteredPrompt } from './mcp-types.ts';
import { Items, onceServing } from './registered.ts';
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

type Extra = RequestHandlerExtra<v1.ServerRequest, v1.ServerNotification>;

export class Prompts {
  readonly items: Items<RegisteredPrompt>;
  /** Sets the handlers of prompts, once. */
  readonly serve: () => void;

  constructor(server: Server, all: Record<string, RegisteredPrompt>, onChange: () => void) {
    this.items = new Items('Prompt', all, onChange);
    this.serve = onceServing(
      server,
      { prompts: { listChanged: true } },
      {
        'prompts/list': () => ({
          prompts: this.items.enabled.map(([name, { title, description, argsSchema }]) => ({
            name,
            title,
            description,
            arguments: argsSchema && toArguments(argsSchema),
          })),
        }),
        'prompts/get': ({ params }, extra: Extra) => this.#get(params as v1.GetPromptRequestParams, extra),
      },
    );
  }

  /** Finds a prompt. @throws {McpError} There is none of the name, or it is disabled. */
  find(name: string): RegisteredPrompt {
    const prompt = this.items.find(name);
    if (!prompt) throw new v1.McpError(v1.ErrorCode.InvalidParams, `Prompt ${name} not found`);
    if (!prompt.enabled) throw new v1.McpError(v1.ErrorCode.InvalidParams, `Prompt ${name} disabled`);
    return prompt;
  }

  register(
    name: string,
    { title, description }: { title?: string | undefined; description?: string | undefined },
    args: PromptArgsRawShape | undefined,
    handler: unknown,
  ): RegisteredPrompt {
    this.serve();
    const callback = handler as RegisteredPrompt['callback'];
    const parts = { title, description, argsSchema: args && objectFromShape(args), callback };
    return this.items.add(name, parts, ({ name: to, argsSchema, callback: next, ...changes }) => ({
      ...changes,
      to,
      argsSchema: argsSchema && objectFromShape(argsSchema),
      callback: next as RegisteredPrompt['callback'] | undefined,
    }));
  }

  async #get({ name, arguments: given = {} }: v1.GetPromptRequestParams, extra: Extra): Promise<v1.Result> {
    const { argsSchema, callback } = this.find(name);
    const run = callback as unknown as (...args: unknown[]) => v1.Result | Promise<v1.Result>;
    if (!argsSchema) return run(extra);
    const outcome = await safeParseAsync(argsSchema, given);
    if (outcome.success) return run(outcome.data, extra);
    throw new v1.McpError(v1.ErrorCode.InvalidParams, `Invalid arguments for prompt ${name}: ${getParseErrorMessage(outcome.error)}`);
  }
}

function toArguments(schema: AnyObjectSchema): v1.PromptArgument[] {
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
