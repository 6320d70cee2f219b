/** The prompts of a server: how they are registered, found and filled in. */

import { type JsonObject, type JsonValue, ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS, isJsonObject } from '@mortise/jsonrpc-core/messages';
import { isContentBlock } from '@mortise/protocol/checks';
import type { SchemaAdapter } from '@mortise/protocol/contracts';
import { type Completer, getFieldCompleter } from '../completable.ts';
import type { PromptChanges, PromptConfig, RegisteredPrompt } from '../config.ts';
import type { Context } from '../context.ts';
import { InvalidHandlerResultError } from '../errors.ts';
import { describeIssues } from '../schema/describe-issues.ts';
import { refuseNonText, toPromptArguments } from '../schema/prompt-arguments.ts';
import { toSchemaAdapter } from '../schema/to-schema-adapter.ts';
import type { Server } from '../server.ts';
import { type Asker, Catalog, CatalogHandle, type CatalogItem } from './catalog.ts';
import { checkChanges, checkConfig, checkRegistration } from './check-registration.ts';

/** A handler once its types no longer matter. */
export type PromptFn = (...args: readonly unknown[]) => unknown;

export class Prompts {
  readonly #server: Server;
  readonly #catalog: Catalog<PromptItem>;
  /** Called when a prompt that completes something is registered. */
  readonly #onCompleter: () => void;

  constructor(server: Server, onCompleter: () => void) {
    this.#server = server;
    this.#onCompleter = onCompleter;
    this.#catalog = new Catalog({ server, kind: 'prompts', noun: 'prompt', method: 'prompts/list', member: 'prompts' });
    server.setMethod('prompts/list', { run: (_params, context) => this.#catalog.list(context) });
    server.setMethod('prompts/get', { findsByName: true, run: (params, context) => this.#get(params, context) });
  }

  register(name: string, config: PromptConfig, handler: PromptFn): RegisteredPrompt {
    checkRegistration('prompt', name, config, handler);
    const item = new PromptItem(name, config, handler, this.#server);
    this.#catalog.add(item);
    this.#server.registerCapability('prompts', { listChanged: true });
    if (item.hasCompleter) this.#onCompleter();
    return new PromptHandle(item, this.#catalog, this.#onCompleter);
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

export class PromptItem implements CatalogItem {
  key: string;
  isEnabled = true;
  config: PromptConfig = {};
  handler: PromptFn;
  args: SchemaAdapter | undefined;
  readonly #server: Server;

  constructor(name: string, config: PromptConfig, handler: PromptFn, server: Server) {
    this.key = name;
    this.handler = handler;
    this.#server = server;
    this.prepare(config, handler)();
  }

  get argumentNames(): readonly string[] {
    const properties = this.args?.jsonSchema['properties'];
    return isJsonObject(properties) ? Object.keys(properties) : [];
  }

  get hasCompleter(): boolean {
    return this.argumentNames.some((name) => this.completer(name) !== undefined);
  }

  completer(argument: string): Completer | undefined {
    return getFieldCompleter(this.config.argsSchema, argument);
  }

  /** @returns What makes the changes; nothing has changed before it is called. */
  prepare(changes: PromptConfig, handler: PromptFn | undefined): () => void {
    const config = { ...this.config, ...changes };
    const { argsSchema } = config;
    const { validator } = this.#server.options;
    checkConfig('prompt', `prompt "${this.key}"`, config);
    const args = argsSchema === undefined ? undefined : toSchemaAdapter(argsSchema, 'prompt arguments', this.key, { validator });
    if (argsSchema !== undefined && args) refuseNonText(this.key, argsSchema, args.jsonSchema);
    return () => {
      this.config = config;
      this.args = args;
      if (handler) this.handler = handler;
    };
  }

  define(): JsonObject {
    const { title, description, icons, _meta } = this.config;
    const definition: Record<string, JsonValue | undefined> = { name: this.key };
    if (title !== undefined) definition['title'] = title;
    if (description !== undefined) definition['description'] = description;
    if (this.args) definition['arguments'] = toPromptArguments(this.args.jsonSchema);
    if (icons !== undefined) definition['icons'] = icons;
    if (_meta !== undefined) definition['_meta'] = _meta;
    return definition;
  }
}

class PromptHandle extends CatalogHandle<PromptItem> implements RegisteredPrompt {
  readonly #onCompleter: () => void;

  constructor(item: PromptItem, catalog: Catalog<PromptItem>, onCompleter: () => void) {
    super(item, catalog);
    this.#onCompleter = onCompleter;
  }

  update(changes: PromptChanges): void {
    checkChanges(`prompt "${this.name}"`, changes);
    const { name, enabled, handler, callback, ...config } = changes;
    if (name === null) return this.remove();
    this.apply(name, enabled, this.item.prepare(config, (handler ?? callback) as PromptFn | undefined));
    if (this.item.hasCompleter) this.#onCompleter();
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
