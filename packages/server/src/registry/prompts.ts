/** The prompts of a server: registers and finds them, and serves `prompts/list` and `prompts/get`. */

import { type JsonObject, ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS, isJsonObject } from '@mortise/jsonrpc-core/messages';
import { checkContentBlock } from '@mortise/protocol/checks';
import type { SchemaAdapter } from '@mortise/protocol/contracts';
import type { PromptArgument } from '@mortise/protocol/model';
import { type Completer, getFieldCompleter, isFieldCoerced } from '../completable.ts';
import type { PromptConfig, RegisteredPrompt } from '../config.ts';
import type { Context } from '../context.ts';
import { InvalidHandlerResultError, RegistrationError } from '../errors.ts';
import type { McpServer } from '../mcp-server.ts';
import { describeIssues } from '../schema/describe-issues.ts';
import { toSchemaAdapter } from '../schema/to-schema-adapter.ts';
import { type Asker, Catalog } from './catalog.ts';
import { CatalogItem, defined, type HandlerFn, LISTED } from './catalog-item.ts';

export class Prompts {
  readonly #catalog: Catalog<PromptItem>;

  constructor(server: McpServer) {
    const options = { ...LISTED, argsSchema: 'any' } as const;
    this.#catalog = new Catalog({ server, kind: 'prompts', noun: 'prompt', method: 'prompts/list', member: 'prompts', options });
    server.methods.set('prompts/list', { run: (_params, context) => this.#catalog.list(context) });
    server.methods.set('prompts/get', { findsByName: true, run: (params, context) => this.#get(params, context) });
  }

  register(name: string, config: PromptConfig, handler: HandlerFn): RegisteredPrompt {
    return this.#catalog.add(new PromptItem(this.#catalog, name, name, config, handler));
  }

  /** Finds a prompt by name. @throws {ProtocolError} -32602: there is none that is visible to this caller. */
  get(name: string, asker: Asker): PromptItem {
    const item = this.#catalog.find(name, asker);
    if (item) return item;
    throw new ProtocolError(INVALID_PARAMS, `Unknown prompt: "${name.slice(0, 128)}"`);
  }

  async #get(params: JsonObject, context: Context): Promise<JsonObject> {
    const { label, parts: args, handler, config } = this.get(params['name'] as string, context);
    const given = (params['arguments'] ?? {}) as JsonObject;
    const outcome = args ? await args.validate(given) : { value: undefined };
    if ('issues' in outcome)
      throw new ProtocolError(INVALID_PARAMS, describeIssues(outcome.issues, { owner: label, part: 'argument', value: given }));
    const ctx = context.forHandler();
    return toPromptResult(await (args ? handler(outcome.value, ctx) : handler(ctx)), label, config.description);
  }
}

export class PromptItem extends CatalogItem<PromptConfig, SchemaAdapter | undefined> {
  get argumentNames(): readonly string[] {
    return toArguments(this.parts).map(({ name }) => name);
  }

  completer(argument: string): Completer | undefined {
    return getFieldCompleter(this.config.argsSchema, argument);
  }

  protected override prepare(name: string, { argsSchema }: PromptConfig): SchemaAdapter | undefined {
    if (argsSchema === undefined) return undefined;
    // Only an McpServer has prompts.
    const server = this.catalog.init.server as McpServer;
    const args = toSchemaAdapter(argsSchema, 'prompt arguments', name, server.options.validator);
    requireStrings(this.label, argsSchema, args);
    if (toArguments(args).some((argument) => getFieldCompleter(argsSchema, argument.name))) server.serveCompletions();
    return args;
  }

  override define(): JsonObject {
    const { title, description, icons, _meta } = this.config;
    return defined({ name: this.key, title, description, arguments: this.parts && toArguments(this.parts), icons, _meta });
  }
}

/** @throws {RegistrationError} `ERR_REGISTRATION`: a required argument of the prompt does not accept a string, so every call would fail. */
function requireStrings(prompt: string, argsSchema: unknown, { jsonSchema }: SchemaAdapter): void {
  const { properties = {}, required = [] } = jsonSchema as { readonly properties?: JsonObject; readonly required?: readonly string[] };
  for (const name of required) {
    const { type, default: preset } = isJsonObject(properties[name]) ? properties[name] : {};
    if (typeof type !== 'string' || type === 'string' || preset !== undefined || isFieldCoerced(argsSchema, name)) continue;
    throw new RegistrationError(
      `${prompt}: argument "${name}" has the type ${type}, but prompt arguments are strings: convert the string in the schema, as z.coerce.number() does`,
    );
  }
}

/** Makes the list of a prompt's arguments from its schema, in the schema's order. @see 2026-07-28 server/prompts#prompt */
function toArguments(args: SchemaAdapter | undefined): readonly PromptArgument[] {
  const { properties, required = [] } = (args?.jsonSchema ?? {}) as {
    readonly properties?: JsonObject;
    readonly required?: readonly string[];
  };
  return Object.entries(properties ?? {}).map(([name, property]) => {
    const { title, description } = isJsonObject(property) ? property : {};
    return {
      name,
      ...(typeof title === 'string' ? { title } : {}),
      ...(typeof description === 'string' ? { description } : {}),
      required: required.includes(name),
    };
  });
}

/**
 * Converts what a prompt's handler returned to a result. Text becomes one user message; one message or several become `messages`.
 *
 * @param description The prompt's registered description, used if the handler returned none.
 * @throws {InvalidHandlerResultError} `ERR_HANDLER_RESULT`: the value is not a valid result.
 * @see 2026-07-28 server/prompts#getting-a-prompt
 */
function toPromptResult(value: unknown, prompt: string, description: string | undefined): JsonObject {
  const fault = (reason: string): InvalidHandlerResultError =>
    new InvalidHandlerResultError(`${prompt}: ${reason}: return text, a message, messages or { messages }`);
  if (typeof value === 'string') return toPromptResult([{ role: 'user', content: { type: 'text', text: value } }], prompt, description);
  if (Array.isArray(value)) return toPromptResult({ messages: value }, prompt, description);
  if (!isJsonObject(value)) throw fault(`the handler gave ${value === null ? 'null' : typeof value}`);
  if (typeof value['resultType'] === 'string' && value['resultType'] !== 'complete') return value;
  const { messages, role } = value;
  if (messages === undefined && role !== undefined) return toPromptResult([value], prompt, description);
  if (!Array.isArray(messages)) throw fault('"messages" must be an array');
  for (const [index, message] of (messages as readonly unknown[]).entries()) {
    const { role: speaker, content } = (message ?? {}) as { readonly role?: unknown; readonly content?: unknown };
    if (speaker !== 'user' && speaker !== 'assistant') throw fault(`messages[${index}] must have the role "user" or "assistant"`);
    const reason = checkContentBlock(content);
    if (reason !== undefined) throw fault(`messages[${index}].content${reason}`);
  }
  return { ...(description === undefined ? {} : { description }), ...value };
}
