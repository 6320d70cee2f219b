/** The tools of a server: how they are registered, found and run. */

import { isMortiseError, type JsonObject, ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS } from '@mortise/jsonrpc-core/messages';
import type { CallToolResult, Revision } from '@mortise/protocol';
import { checkToolName } from '@mortise/protocol/checks';
import type { ParamHeaders, SchemaAdapter, SchemaIssue, SchemaOutcome } from '@mortise/protocol/contracts';
import type { RegisteredTool, ToolChanges, ToolConfig } from '../config.ts';
import { LOCAL } from '../channel-call.ts';
import type { Context } from '../context.ts';
import { describeError } from '../describe-error.ts';
import { describeIssues } from '../schema/describe-issues.ts';
import { readParamHeaders } from '../schema/param-headers.ts';
import { toSchemaAdapter } from '../schema/to-schema-adapter.ts';
import type { Server } from '../server.ts';
import { isThenable } from '../thenable.ts';
import { isForProtocol } from '../wire-error.ts';
import { type Asker, Catalog, CatalogHandle, CatalogItem, defined, type HandlerFn } from './catalog.ts';
import { checkRegistration } from './check-registration.ts';
import { normalizeToolResult, type ResultOwner } from './tool-result.ts';

/** The JSON-RPC code of a refusal for lack of scope: that of HTTP, outside the ranges that JSON-RPC and MCP keep to themselves. */
const FORBIDDEN = 403;
const NO_ARGUMENTS: JsonObject = Object.freeze({});
/** What a tool without parameters shows. @see 2025-11-25 server/tools#tool */
const NO_PARAMETERS: JsonObject = Object.freeze({ type: 'object', additionalProperties: false });

export class Tools {
  readonly #server: Server;
  readonly #catalog: Catalog<ToolItem>;
  #hasWarnedOfEmbedding = false;

  constructor(server: Server) {
    this.#server = server;
    this.#catalog = new Catalog({ server, kind: 'tools', noun: 'tool', method: 'tools/list', member: 'tools' });
    server.setMethod('tools/list', { run: (_params, context) => this.#catalog.list(context) });
    server.setMethod('tools/call', {
      findsByName: true,
      run: (params, context) => this.#call(params, context),
      toFailedResult: ({ message }) => toErrorResult(message),
    });
  }

  register(name: string, config: ToolConfig, handler: HandlerFn): RegisteredTool {
    checkRegistration('tool', name, config, handler);
    const item = new ToolItem(name, config, handler, this.#server);
    item.checkKey(name);
    this.#catalog.add(item);
    this.#server.registerCapability('tools', { listChanged: true });
    return new CatalogHandle(item, this.#catalog);
  }

  find(name: string, asker: Asker): ToolItem | undefined {
    return this.#catalog.find(name, asker);
  }

  /** A tool that is enabled, whoever may see it. */
  findAny(name: string): ToolItem | undefined {
    return this.#catalog.findAny(name);
  }

  /** Asked before each call over HTTP: the visibility rule of a tool without any is not. */
  paramHeaders(name: string, asker: Asker): ParamHeaders | undefined {
    return this.findAny(name)?.paramHeaders && this.find(name, asker)?.paramHeaders;
  }

  #call(params: JsonObject, context: Context): JsonObject | Promise<JsonObject> {
    const name = params['name'] as string;
    const item = this.#catalog.find(name, context);
    if (!item) throw new ProtocolError(INVALID_PARAMS, `Unknown tool: "${name.slice(0, 128)}"`);
    item.requireScopes(context);
    return this.run(item, (params['arguments'] ?? NO_ARGUMENTS) as JsonObject, context);
  }

  /** Runs a tool. Gives a promise only where the tool or a schema does. Throws and rejects for faults of the protocol alone. */
  run(item: ToolItem, args: JsonObject, context: Context): CallToolResult | Promise<CallToolResult> {
    try {
      const checked = item.checkArguments(args);
      const result = isThenable(checked)
        ? checked.then((outcome) => this.#runChecked(item, args, outcome, context))
        : this.#runChecked(item, args, checked, context);
      return isThenable(result) ? this.#settle(item, result, context) : result;
    } catch (error) {
      return this.#toFailure(item, error, context);
    }
  }

  async #settle(item: ToolItem, result: PromiseLike<CallToolResult>, context: Context): Promise<CallToolResult> {
    try {
      return await result;
    } catch (error) {
      return this.#toFailure(item, error, context);
    }
  }

  #runChecked(
    item: ToolItem,
    args: JsonObject,
    outcome: SchemaOutcome<unknown>,
    context: Context,
  ): CallToolResult | Promise<CallToolResult> {
    if ('issues' in outcome) return refuseArguments(item, args, outcome.issues, context);
    const ctx = context.forHandler();
    // Without the item as its `this`.
    const { handler, input } = item;
    const value = input ? handler(outcome.value, ctx) : handler(ctx);
    return isThenable(value)
      ? Promise.resolve(value).then((settled) => this.#toResult(item, settled, context))
      : this.#toResult(item, value, context);
  }

  #toResult(item: ToolItem, value: unknown, { revision }: Context): CallToolResult | Promise<CallToolResult> {
    const result = normalizeToolResult(value, item.owner);
    if (isThenable(result)) return result;
    const embeds = !this.#hasWarnedOfEmbedding && result.content?.some(({ type }) => type === 'resource');
    if (embeds && !this.#server.capabilities.has(revision, 'resources')) this.#warnOfEmbedding(item);
    return result;
  }

  /** @see 2026-07-28 server/tools#embedded-resources */
  #warnOfEmbedding({ key }: ToolItem): void {
    this.#hasWarnedOfEmbedding = true;
    this.#server.logger.log(
      'warning',
      `tool "${key}" embeds a resource, but the server declares no resources: register them, or declare the capability`,
    );
  }

  /** @throws What is to be answered by a JSON-RPC error. */
  #toFailure({ key }: ToolItem, error: unknown, context: Context): CallToolResult {
    if (isForProtocol(error, context)) throw error;
    context.span?.recordError(error);
    // What a tool says by itself the model reads in full; of all else the operator alone sees what it was.
    const level = isMortiseError(error) && error.code === 'ERR_TOOL' ? 'info' : 'error';
    this.#server.logger.log(level, 'A tool failed', { tool: key, error });
    return toErrorResult(this.#describe(error) ?? 'internal error: the log of the server has the details');
  }

  #describe(error: unknown): string | undefined {
    try {
      return (this.#server.options.describeError ?? describeError)(error);
    } catch (cause) {
      this.#server.logger.log('error', 'describeError failed', { error: cause });
      return undefined;
    }
  }
}

function toErrorResult(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}

function refuseArguments({ key }: ToolItem, value: JsonObject, issues: readonly SchemaIssue[], { revision }: Context): CallToolResult {
  const message = describeIssues(issues, { owner: `tool "${key}"`, part: 'argument', value });
  if (revision.rules.invalidArgumentsAreResults) return toErrorResult(message);
  throw new ProtocolError(INVALID_PARAMS, message);
}

/** A registered tool. */
export class ToolItem extends CatalogItem<ToolConfig> {
  readonly kind = 'tool';
  input: SchemaAdapter | undefined;
  paramHeaders: ParamHeaders | undefined;
  #output: SchemaAdapter | undefined;
  #owner: ResultOwner | undefined;
  readonly #server: Server;

  constructor(name: string, config: ToolConfig, handler: HandlerFn, server: Server) {
    super(name, handler);
    this.#server = server;
    this.prepare(config)();
  }

  /** The options that extensions own, with all others. */
  get options(): Readonly<Record<string, unknown>> {
    return this.config as Readonly<Record<string, unknown>>;
  }

  get owner(): ResultOwner {
    if (this.#owner?.name !== this.key) this.#owner = { name: this.key, output: this.#output };
    return this.#owner;
  }

  override checkKey(name: string): void {
    super.checkKey(name);
    const problem = checkToolName(name);
    if (problem !== undefined) this.#server.warnOnce(`${problem}; some clients will not take it`);
  }

  override readChanges({ paramsSchema, ...changes }: ToolChanges): object {
    return paramsSchema === undefined ? changes : { ...changes, inputSchema: paramsSchema };
  }

  override prepare(changes: ToolConfig, handler?: HandlerFn): () => void {
    const { extensions, options } = this.#server;
    const extensionOptions = extensions.flatMap(({ toolOptions = [] }) => toolOptions);
    const apply = super.prepare(changes, handler, extensionOptions);
    const { inputSchema, outputSchema } = { ...this.config, ...changes };
    const { validator } = options;
    const input = inputSchema === undefined ? undefined : toSchemaAdapter(inputSchema, 'tool input', this.key, { validator });
    const output = outputSchema === undefined ? undefined : toSchemaAdapter(outputSchema, 'tool output', this.key, { validator });
    const paramHeaders = input && readParamHeaders(input.jsonSchema, this.key);
    for (const path of paramHeaders?.values() ?? []) warnOfSecret(this.key, path, this.#server);
    return () => {
      apply();
      this.input = input;
      this.paramHeaders = paramHeaders;
      this.#output = output;
      this.#owner = undefined;
    };
  }

  /**
   * A `local` caller has no token: the user of the machine may do what the machine lets them.
   *
   * @throws {ProtocolError} 403: the caller's token lacks a scope. `data.requiredScopes` names all that are needed.
   */
  requireScopes({ principal, auth }: Asker): void {
    const { scopes: requiredScopes = [] } = this.config;
    if (!auth && principal === LOCAL) return;
    const missing = requiredScopes.filter((scope) => !auth?.scopes.includes(scope));
    if (missing.length === 0) return;
    const names = missing.map((scope) => `"${scope}"`).join(', ');
    throw new ProtocolError(FORBIDDEN, `${this.label} needs the scope ${names}: sign in again with it`, { requiredScopes });
  }

  checkArguments(args: JsonObject): SchemaOutcome<unknown> | Promise<SchemaOutcome<unknown>> {
    // Hosts send `{}`, and models invent arguments where there are none: what a tool does not take is left out, as unknown fields are.
    return this.input ? this.input.validate(args) : NOTHING;
  }

  define(revision: Revision): JsonObject {
    const { title, description, annotations, icons, _meta } = this.config;
    const inputSchema = this.input?.jsonSchema ?? NO_PARAMETERS;
    const outputSchema = this.#output?.jsonSchema;
    const definition = defined({ name: this.key, title, description, inputSchema, outputSchema, annotations, icons, _meta });
    for (const extension of this.#server.extensions) Object.assign(definition, extension.toolDefinition?.(this.options, revision));
    return definition;
  }
}

const NOTHING: SchemaOutcome<undefined> = Object.freeze({ value: undefined });

const SECRET_NAME = /pass(?:word|wd|phrase)|secret|token|api[-_]?key|private[-_]?key|credential|ssn/i;

/**
 * Headers are logged on the way, so an argument that names a secret should not travel in one.
 *
 * @see 2026-07-28 server/tools#x-mcp-header
 */
function warnOfSecret(tool: string, path: readonly string[], server: Server): void {
  if (!SECRET_NAME.test(path.at(-1) ?? '')) return;
  server.warnOnce(
    `tool "${tool}": argument "${path.join('.')}" looks like a secret and is mirrored in a header, which proxies log: take x-mcp-header away`,
  );
}
