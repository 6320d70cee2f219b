/** One registered tool: what lists show of it, what checks its arguments, what runs it. */

import { type JsonObject, type JsonValue } from '@mortise/jsonrpc-core';
import type { Revision } from '@mortise/protocol';
import type { ParamHeaders, SchemaAdapter, SchemaOutcome } from '@mortise/protocol/contracts';
import type { ToolConfig } from '../config.ts';
import type { VisibilityContext } from '../context.ts';
import type { ResultOwner } from '../normalize-result.ts';
import { readParamHeaders } from '../schema/param-headers.ts';
import { toSchemaAdapter } from '../schema/to-schema-adapter.ts';
import type { ServerCore } from '../server-core.ts';
import type { CatalogItem } from './catalog.ts';
import { checkShown, type Shown } from './check-shown.ts';
import { refuseUnknown, TOOL_OPTIONS } from './refuse-unknown.ts';
import type { ToolFn } from './tools.ts';

/** What a tool without parameters shows. @see 2025-11-25 server/tools#tool */
const NO_PARAMETERS: JsonObject = Object.freeze({ type: 'object', additionalProperties: false });

const NOTHING: SchemaOutcome<undefined> = Object.freeze({ value: undefined });

export class ToolItem implements CatalogItem {
  key: string;
  isEnabled = true;
  #config: ToolConfig;
  #handler: ToolFn;
  #input: SchemaAdapter | undefined;
  #output: SchemaAdapter | undefined;
  #paramHeaders: ParamHeaders | undefined;
  #owner: ResultOwner | undefined;
  readonly #core: ServerCore;

  constructor(name: string, config: ToolConfig, handler: ToolFn, core: ServerCore) {
    this.key = name;
    this.#core = core;
    this.#config = {};
    this.#handler = handler;
    this.prepare(config, handler)();
  }

  get visible(): ((ctx: VisibilityContext) => boolean) | undefined {
    return this.#config.visible;
  }
  get scopes(): readonly string[] | undefined {
    return this.#config.scopes;
  }
  get input(): SchemaAdapter | undefined {
    return this.#input;
  }
  get handler(): ToolFn {
    return this.#handler;
  }
  get paramHeaders(): ParamHeaders | undefined {
    return this.#paramHeaders;
  }
  /** The options that extensions own, with all others. */
  get options(): Readonly<Record<string, unknown>> {
    return this.#config as Readonly<Record<string, unknown>>;
  }
  get owner(): ResultOwner {
    if (this.#owner?.name !== this.key) this.#owner = { name: this.key, output: this.#output };
    return this.#owner;
  }

  /**
   * Checks changes to the registration.
   *
   * @returns What makes them; nothing has changed before it is called.
   * @throws {RegistrationError} {SchemaUnsupportedError}
   */
  prepare(changes: ToolConfig, handler: ToolFn | undefined): () => void {
    const core = this.#core;
    const config = { ...this.#config, ...changes };
    const owner = `tool "${this.key}"`;
    const extensionOptions = (core.options.extensions ?? []).flatMap(({ toolOptions = [] }) => toolOptions);
    refuseUnknown(owner, changes, TOOL_OPTIONS, { parameters: { name: this.key }, extensionOptions });
    checkShown(owner, config as Shown);
    const options = { validator: core.options.validator };
    const input = config.inputSchema === undefined ? undefined : toSchemaAdapter(config.inputSchema, 'tool input', this.key, options);
    const output = config.outputSchema === undefined ? undefined : toSchemaAdapter(config.outputSchema, 'tool output', this.key, options);
    const paramHeaders = input && readParamHeaders(input.jsonSchema, this.key);
    for (const path of paramHeaders?.values() ?? []) warnOfSecret(this.key, path, core);
    return () => {
      this.#config = config;
      this.#input = input;
      this.#output = output;
      this.#paramHeaders = paramHeaders;
      this.#owner = undefined;
      if (handler) this.#handler = handler;
    };
  }

  checkArguments(args: JsonObject): SchemaOutcome<unknown> | Promise<SchemaOutcome<unknown>> {
    // Hosts send `{}`, and models invent arguments where there are none: what a tool does not take is left out, as unknown fields are.
    return this.#input ? this.#input.validate(args) : NOTHING;
  }

  define(revision: Revision): JsonObject {
    const { title, description, annotations, icons, _meta } = this.#config;
    const definition: Record<string, JsonValue | undefined> = { name: this.key };
    if (title !== undefined) definition['title'] = title;
    if (description !== undefined) definition['description'] = description;
    definition['inputSchema'] = this.#input?.jsonSchema ?? NO_PARAMETERS;
    if (this.#output) definition['outputSchema'] = this.#output.jsonSchema;
    if (annotations !== undefined) definition['annotations'] = annotations;
    if (icons !== undefined) definition['icons'] = icons;
    if (_meta !== undefined) definition['_meta'] = _meta;
    for (const extension of this.#core.options.extensions ?? [])
      Object.assign(definition, extension.toolDefinition?.(this.options, revision));
    return definition;
  }
}

const SECRET_NAME = /pass(?:word|wd|phrase)|secret|token|api[-_]?key|private[-_]?key|credential|ssn/i;

/**
 * Headers are logged on the way, so an argument that names a secret should not travel in one.
 *
 * @see 2026-07-28 server/tools#x-mcp-header
 */
function warnOfSecret(tool: string, path: readonly string[], core: ServerCore): void {
  const name = path.at(-1) ?? '';
  if (!SECRET_NAME.test(name)) return;
  core.warnOnce(
    `tool "${tool}": argument "${path.join('.')}" looks like a secret and is mirrored in a header, which proxies log: take x-mcp-header away`,
  );
}
