/** The tools of a server: registers and finds them, and serves `tools/list` and `tools/call`. */

import { isMortiseError, type JsonObject, ProtocolError } from '@mortise/jsonrpc-core';
import { andThen, isThenable } from '@mortise/jsonrpc-core/connection';
import { INVALID_PARAMS, isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { CallToolResult, Revision, Tool } from '@mortise/protocol';
import { checkToolName } from '@mortise/protocol/checks';
import type { Call, ParamHeaders, SchemaAdapter, SchemaIssue } from '@mortise/protocol/contracts';
import { INSUFFICIENT_SCOPE } from '@mortise/protocol/wire';
import { LOCAL } from '../calls.ts';
import type { RegisteredTool, ToolChanges, ToolConfig } from '../config.ts';
import type { Context } from '../context.ts';
import { describeError } from '../describe-error.ts';
import { RegistrationError } from '../errors.ts';
import { describeIssues } from '../schema/describe-issues.ts';
import { readParamHeaders } from '../schema/param-headers.ts';
import { toSchemaAdapter } from '../schema/to-schema-adapter.ts';
import type { Server } from '../server.ts';
import { isForProtocol } from '../wire-error.ts';
import { type Asker, Catalog } from './catalog.ts';
import { CatalogItem, type ConfigTable, defined, type HandlerFn, LISTED } from './catalog-item.ts';
import { toToolResult } from './tool-result.ts';

const NO_ARGUMENTS: JsonObject = Object.freeze({});
/** The `inputSchema` shown for a tool without parameters. @see 2025-11-25 server/tools#tool */
const NO_PARAMETERS: JsonObject = Object.freeze({ type: 'object', additionalProperties: false });

/**
 * Leaves out what a tool that a client listed has besides the options: its name, and members that this server does not know, such as
 * `execution` without tasks. Any other object is returned unchanged, so that a misspelt option is reported.
 */
function withoutListing(config: ToolConfig, options: ConfigTable): ToolConfig {
  const { name, inputSchema }: Partial<Tool> = isJsonObject(config) ? config : {};
  if (typeof name !== 'string' || inputSchema?.type !== 'object') return config;
  return Object.fromEntries(Object.entries(config).filter(([member]) => Object.hasOwn(options, member)));
}

export class Tools {
  readonly #server: Server;
  readonly #catalog: Catalog<ToolItem>;

  constructor(server: Server) {
    this.#server = server;
    const options: ConfigTable = { ...LISTED, inputSchema: 'any', outputSchema: 'any', annotations: 'object', scopes: 'array' };
    const ofExtensions = server.extensions.flatMap(({ toolOptions = [] }) => toolOptions.map((name) => [name, 'any'] as const));
    this.#catalog = new Catalog({
      server,
      kind: 'tools',
      noun: 'tool',
      method: 'tools/list',
      member: 'tools',
      options: { ...options, ...Object.fromEntries(ofExtensions) },
    });
    server.methods.set('tools/list', { run: (_params, context) => this.#catalog.list(context) });
    server.methods.set('tools/call', {
      findsByName: true,
      run: (params, context) => this.#call(params, context),
      toFailedResult: ({ message }) => toErrorResult(message),
    });
  }

  register(name: string, given: ToolConfig, handler: HandlerFn): RegisteredTool {
    const config = withoutListing(given, this.#catalog.init.options);
    // A program without types, or one that has not installed the extension yet.
    if ((config as { readonly execution?: unknown } | undefined)?.execution !== undefined && !('execution' in this.#catalog.init.options))
      throw new RegistrationError(
        `tool "${name}": "execution" needs new McpServer(info, { extensions: [createTasks()] }) of @mortise/tasks`,
      );
    return this.#catalog.add(new ToolItem(this.#catalog, name, name, config, handler));
  }

  find(name: string, asker: Asker): ToolItem | undefined {
    return this.#catalog.find(name, asker);
  }

  /** Finds an enabled tool, even if its option `visible` would hide it from the caller. */
  findAny(name: string): ToolItem | undefined {
    return this.#catalog.findAny(name);
  }

  #call(params: JsonObject, context: Context): JsonObject | Promise<JsonObject> {
    const name = params['name'] as string;
    const item = this.#catalog.find(name, context);
    if (!item)
      throw new ProtocolError(INVALID_PARAMS, `Unknown tool: "${name.slice(0, 128)}"${this.#suggest(name.slice(0, 128), context)}`);
    item.authorize(context);
    return this.run(item, (params['arguments'] ?? NO_ARGUMENTS) as JsonObject, context);
  }

  /** Names the visible tool whose name is most like an unknown one, if they share at least half of their pairs of letters. */
  #suggest(name: string, context: Context): string {
    const asked = toPairs(name);
    let [nearest, best] = ['', 0.5];
    for (const item of this.#catalog.items) {
      // An exact match is hidden from this caller.
      if (item.key === name) continue;
      const pairs = toPairs(item.key);
      let shared = 0;
      for (const pair of pairs) if (asked.has(pair)) shared++;
      const likeness = (2 * shared) / (asked.size + pairs.size);
      // Hidden tools are not named: only visible ones are known to the caller.
      if (likeness >= best && this.#catalog.isVisible(item, context)) [nearest, best] = [item.key, likeness];
    }
    return nearest === '' ? '' : `. Did you mean "${nearest}"?`;
  }

  /** Runs a tool. Returns a promise only if the handler or a schema's check does. Throws or rejects only with errors for JSON-RPC. */
  run(item: ToolItem, args: JsonObject, context: Context): CallToolResult | Promise<CallToolResult> {
    const { input } = item.parts;
    try {
      // A tool without parameters ignores its arguments: hosts send `{}`, and models invent some.
      const result = input
        ? andThen(input.validate(args), (outcome) =>
            'issues' in outcome ? refuseArguments(item, args, outcome.issues, context) : this.#invoke(item, context, outcome.value),
          )
        : this.#invoke(item, context);
      return isThenable(result) ? result.catch((error: unknown) => this.#toFailure(item, error, context)) : result;
    } catch (error) {
      return this.#toFailure(item, error, context);
    }
  }

  #invoke(item: ToolItem, context: Context, args?: unknown): CallToolResult | Promise<CallToolResult> {
    const ctx = context.forHandler();
    // Read first, so that the handler does not get the item as `this`.
    const { handler, parts } = item;
    return andThen(parts.input ? handler(args, ctx) : handler(ctx), (value) => {
      const result = toToolResult(value, item.key, parts.output);
      if (!isThenable(result)) this.#warnOfEmbedding(item, result, context);
      return result;
    });
  }

  /** Warns if a tool embeds resources but the server declares none. @see 2026-07-28 server/tools#embedded-resources */
  #warnOfEmbedding({ label }: ToolItem, { content }: CallToolResult, { revision }: Context): void {
    if (!content?.some(({ type }) => type === 'resource') || this.#server.capabilities.has(revision, 'resources')) return;
    this.#server.warnOnce(`${label} embeds a resource, but the server declares no resources: register them, or declare the capability`);
  }

  /** Makes the `isError` result for an error thrown by a tool. @throws The same error, if it must become a JSON-RPC error. */
  #toFailure({ key }: ToolItem, error: unknown, context: Context): CallToolResult {
    if (isForProtocol(error, context)) throw error;
    context.span?.recordError(error);
    // A ToolError's message goes to the model in full. Of other errors, only the log has everything.
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

function refuseArguments(item: ToolItem, value: JsonObject, issues: readonly SchemaIssue[], { revision }: Context): CallToolResult {
  const message = item.describe(issues, value);
  if (revision.rules.invalidArgumentsAreResults) return toErrorResult(message);
  throw new ProtocolError(INVALID_PARAMS, message);
}

interface ToolParts {
  readonly input: SchemaAdapter | undefined;
  readonly output: SchemaAdapter | undefined;
  readonly paramHeaders: ParamHeaders | undefined;
}

/** A registered tool, with its prepared schemas. */
export class ToolItem extends CatalogItem<ToolConfig, ToolParts> {
  /** All options that the tool was registered with, including those that extensions define. */
  get options(): Readonly<Record<string, unknown>> {
    return this.config as Readonly<Record<string, unknown>>;
  }

  override update({ paramsSchema, ...changes }: ToolChanges = {}): void {
    super.update(paramsSchema === undefined ? changes : { ...changes, inputSchema: paramsSchema });
  }

  protected override prepare(name: string, { inputSchema, outputSchema }: ToolConfig): ToolParts {
    const { server } = this.catalog.init;
    const { validator } = server.options;
    const problem = checkToolName(name);
    if (problem !== undefined) server.warnOnce(`${problem}; some clients will reject it`);
    const input = inputSchema === undefined ? undefined : toSchemaAdapter(inputSchema, 'tool input', name, validator);
    const output = outputSchema === undefined ? undefined : toSchemaAdapter(outputSchema, 'tool output', name, validator);
    const paramHeaders = input && readParamHeaders(input.jsonSchema, name);
    for (const path of paramHeaders?.values() ?? []) warnOfSecret(name, path, server);
    return { input, output, paramHeaders };
  }

  /**
   * Checks that the caller's token has the tool's `scopes`. A caller on stdio (principal `local`) has no token and needs no scope.
   *
   * @throws {ProtocolError} 403: the caller's token lacks a scope. `data.requiredScopes` lists all required scopes.
   */
  authorize({ principal, auth, paramFault }: Asker & Pick<Call, 'paramFault'>): void {
    if (paramFault) throw paramFault;
    const { scopes: requiredScopes = [] } = this.config;
    if (requiredScopes.length === 0 || (!auth && principal === LOCAL)) return;
    const missing = requiredScopes.filter((scope) => !auth?.scopes.includes(scope));
    if (missing.length === 0) return;
    const names = missing.map((scope) => `"${scope}"`).join(', ');
    throw new ProtocolError(INSUFFICIENT_SCOPE, `${this.label} needs the scope ${names}: authorize again with this scope`, {
      requiredScopes,
    });
  }

  /** Checks arguments against the tool's `inputSchema`. @returns What is wrong with them; undefined if they are valid. */
  async checkArguments(args: JsonObject): Promise<string | undefined> {
    const outcome = await this.parts.input?.validate(args);
    return outcome && 'issues' in outcome ? this.describe(outcome.issues, args) : undefined;
  }

  /** Describes what is wrong with arguments, as a text for the caller. */
  describe(issues: readonly SchemaIssue[], value: JsonObject): string {
    return describeIssues(issues, { owner: this.label, part: 'argument', value });
  }

  override define(revision: Revision): JsonObject {
    const { title, description, annotations, icons, _meta } = this.config;
    const inputSchema = this.parts.input?.jsonSchema ?? NO_PARAMETERS;
    const outputSchema = this.parts.output?.jsonSchema;
    const definition = defined({ name: this.key, title, description, inputSchema, outputSchema, annotations, icons, _meta });
    for (const extension of this.catalog.init.server.extensions)
      Object.assign(definition, extension.toolDefinition?.(this.options, revision));
    return definition;
  }
}

const SECRET_NAME = /pass(?:word|wd|phrase)|secret|token|api[-_]?key|private[-_]?key|credential|ssn/i;

/**
 * Warns if a tool's argument that is also sent in an HTTP header looks like a secret, because proxies log headers.
 *
 * @see 2026-07-28 server/tools#x-mcp-header
 */
function warnOfSecret(tool: string, path: readonly string[], server: Server): void {
  if (!SECRET_NAME.test(path.at(-1) ?? '')) return;
  server.warnOnce(
    `tool "${tool}": argument "${path.join('.')}" looks like a secret and is copied to an HTTP header, which proxies log: remove x-mcp-header`,
  );
}

/** Returns the pairs of neighbouring letters of a name, without regard to case. */
function toPairs(name: string): ReadonlySet<string> {
  const lower = name.toLowerCase();
  return new Set(Array.from({ length: Math.max(0, lower.length - 1) }, (_, at) => lower.slice(at, at + 2)));
}
