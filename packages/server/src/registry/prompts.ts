/** The prompts of a server: how they are registered, found and filled in. */

import { type JsonObject, ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS, isJsonObject } from '@mortise/jsonrpc-core/messages';
import { isContentBlock } from '@mortise/protocol/checks';
import type { SchemaAdapter } from '@mortise/protocol/contracts';
import { type Completer, getFieldCompleter } from '../completable.ts';
import type { PromptConfig, RegisteredPrompt } from '../config.ts';
import type { Context } from '../context.ts';
import { InvalidHandlerResultError } from '../errors.ts';
import type { McpServer } from '../mcp-server.ts';
import { describeIssues } from '../schema/describe-issues.ts';
import { refuseNonText, toPromptArguments } from '../schema/prompt-arguments.ts';
import { toSchemaAdapter } from '../schema/to-schema-adapter.ts';
import { type Asker, Catalog, CatalogHandle, CatalogItem, defined, type HandlerFn } from './catalog.ts';
import { checkRegistration } from './check-registration.ts';

export class Prompts {
  readonly #server: McpServer;
  readonly #catalog: Catalog<PromptItem>;

  constructor(server: McpServer) {
    this.#server = server;
    this.#catalog = new Catalog({ server, kind: 'prompts', noun: 'prompt', method: 'prompts/list', member: 'prompts' });
    server.setMethod('prompts/list', { run: (_params, context) => this.#catalog.list(context) });
    server.setMethod('prompts/get', { findsByName: true, run: (params, context) => this.#get(params, context) });
  }

  register(name: string, config: PromptConfig, handler: HandlerFn): RegisteredPrompt {
    checkRegistration('prompt', name, config, handler);
    const item = new PromptItem(name, config, handler, this.#server);
    this.#catalog.add(item);
    this.#server.registerCapability('prompts', { listChanged: true });
    return new CatalogHandle(item, this.#catalog);
  }

  /** @throws {ProtocolError} -32602: there is no such prompt for this caller. */
  get(name: string, asker: Asker): PromptItem {
    const item = this.#catalog.find(name, asker);
    if (item) return item;
    throw new ProtocolError(INVALID_PARAMS, `Unknown prompt: "${name.slice(0, 128)}"`);
  }

  async #get(params: JsonObject, context: Context): Promise<JsonObject> {
    const { key, args, handler, config } = this.get(params['name'] as string, context);
    const given = (params['arguments'] ?? {}) as JsonObject;
    const outcome = args ? await args.validate(given) : { value: undefined };
    if ('issues' in outcome)
      throw new ProtocolError(INVALID_PARAMS, describeIssues(outcome.issues, { owner: `prompt "${key}"`, part: 'argument', value: given }));
    const ctx = context.forHandler();
    return toPromptResult(await (args ? handler(outcome.value, ctx) : handler(ctx)), key, config.description);
  }
}

export class PromptItem extends CatalogItem<PromptConfig> {
  readonly kind = 'prompt';
  args: SchemaAdapter | undefined;
  readonly #server: McpServer;

  constructor(name: string, config: PromptConfig, handler: HandlerFn, server: McpServer) {
    super(name, handler);
    this.#server = server;
    this.prepare(config)();
  }

  get argumentNames(): readonly string[] {
    const properties = this.args?.jsonSchema['properties'];
    return isJsonObject(properties) ? Object.keys(properties) : [];
  }

  completer(argument: string): Completer | undefined {
    return getFieldCompleter(this.config.argsSchema, argument);
  }

  override prepare(changes: PromptConfig, handler?: HandlerFn): () => void {
    const apply = super.prepare(changes, handler);
    const { argsSchema } = { ...this.config, ...changes };
    const { validator } = this.#server.options;
    const args = argsSchema === undefined ? undefined : toSchemaAdapter(argsSchema, 'prompt arguments', this.key, { validator });
    if (argsSchema !== undefined && args) refuseNonText(this.key, argsSchema, args.jsonSchema);
    return () => {
      apply();
      this.args = args;
      if (this.argumentNames.some((name) => this.completer(name))) this.#server.serveCompletions();
    };
  }

  define(): JsonObject {
    const { title, description, icons, _meta } = this.config;
    const args = this.args && toPromptArguments(this.args.jsonSchema);
    return defined({ name: this.key, title, description, arguments: args, icons, _meta });
  }
}

/**
 * Text becomes one message of the user; a message or several become `messages`.
 *
 * @param description Stands in the result where the handler gives none.
 * @throws {InvalidHandlerResultError} `ERR_HANDLER_RESULT`: not a result.
 * @see 2026-07-28 server/prompts#getting-a-prompt
 */
function toPromptResult(value: unknown, name: string, description: string | undefined): JsonObject {
  const fault = (reason: string): InvalidHandlerResultError =>
    new InvalidHandlerResultError(`prompt "${name}": ${reason}: return text, a message, messages or { messages }`);
  if (typeof value === 'string') return toPromptResult([{ role: 'user', content: { type: 'text', text: value } }], name, description);
  if (Array.isArray(value)) return toPromptResult({ messages: value }, name, description);
  if (!isJsonObject(value)) throw fault(`the handler gave ${value === null ? 'null' : typeof value}`);
  if (typeof value['resultType'] === 'string' && value['resultType'] !== 'complete') return value;
  const { messages, role } = value;
  if (messages === undefined && role !== undefined) return toPromptResult([value], name, description);
  if (!Array.isArray(messages)) throw fault('"messages" must be an array');
  for (const message of messages as readonly unknown[]) {
    const shown = isJsonObject(message) ? message : {};
    if (shown['role'] !== 'user' && shown['role'] !== 'assistant') throw fault('each message must have the role "user" or "assistant"');
    if (!isContentBlock(shown['content']))
      throw fault('each message must have one block as its "content", of type text, image, audio, resource or resource_link');
  }
  return { ...(description === undefined ? {} : { description }), ...value };
}
