/** The prompts of a server: how they are listed, found and filled in. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { SchemaAdapter, SchemaOutcome } from '@mortise/protocol/contracts';
import type { PromptChanges, PromptConfig, RegisteredPrompt } from '../config.ts';
import type { VisibilityContext } from '../context.ts';
import { type Completer, getFieldCompleter } from '../completable.ts';
import { onDemand } from '../on-demand.ts';
import { refuseNonText, toPromptArguments } from '../schema/prompt-arguments.ts';
import { toSchemaAdapter } from '../schema/to-schema-adapter.ts';
import type { ServerCore } from '../server-core.ts';
import { type Asker, Catalog, type CatalogItem } from './catalog.ts';
import { CatalogHandle } from './catalog-handle.ts';
import { checkRegistration } from './check-registration.ts';
import { checkChanges, checkShown } from './check-shown.ts';
import { PROMPT_OPTIONS, refuseUnknown } from './refuse-unknown.ts';

const withGetting = onDemand(() => import('./get-prompt.ts'));

/** A handler once its types no longer matter. */
export type PromptFn = (...args: readonly unknown[]) => unknown;

export class Prompts {
  readonly #core: ServerCore;
  readonly #catalog: Catalog<PromptItem>;
  /** Told when a prompt that completes something is registered. */
  readonly #onCompleter: () => void;

  constructor(core: ServerCore, onCompleter: () => void) {
    this.#core = core;
    this.#onCompleter = onCompleter;
    this.#catalog = new Catalog({ core, kind: 'prompts', noun: 'prompt', method: 'prompts/list', member: 'prompts' });
    core.setMethod('prompts/list', { isBounded: true, run: (_params, call) => this.#catalog.list(call) });
    core.setMethod('prompts/get', {
      isBounded: true,
      findsByName: true,
      run: (params, call) => withGetting(({ getPrompt }) => getPrompt(this, params, call)),
    });
  }

  register(name: string, config: PromptConfig, handler: PromptFn): RegisteredPrompt {
    checkRegistration('prompt', name, config, handler);
    const item = new PromptItem(name, config, handler, this.#core);
    this.#catalog.add(item);
    this.#core.registerCapability('prompts', { listChanged: true });
    if (item.hasCompleter) this.#onCompleter();
    return new PromptHandle(item, this.#catalog, this.#onCompleter);
  }

  find(name: string, asker: Asker): PromptItem | undefined {
    return this.#catalog.find(name, asker);
  }
}

export class PromptItem implements CatalogItem {
  key: string;
  isEnabled = true;
  #config: PromptConfig = {};
  #handler: PromptFn;
  #args: SchemaAdapter | undefined;
  readonly #core: ServerCore;

  constructor(name: string, config: PromptConfig, handler: PromptFn, core: ServerCore) {
    this.key = name;
    this.#handler = handler;
    this.#core = core;
    this.prepare(config, handler)();
  }

  get visible(): ((ctx: VisibilityContext) => boolean) | undefined {
    return this.#config.visible;
  }
  get description(): string | undefined {
    return this.#config.description;
  }
  get args(): SchemaAdapter | undefined {
    return this.#args;
  }
  get handler(): PromptFn {
    return this.#handler;
  }
  get hasCompleter(): boolean {
    return this.argumentNames.some((name) => this.completer(name) !== undefined);
  }
  get argumentNames(): readonly string[] {
    return Object.keys(propertiesOf(this.#args));
  }

  completer(argument: string): Completer | undefined {
    return getFieldCompleter(this.#config.argsSchema, argument);
  }

  /** @returns What makes the changes; nothing has changed before it is called. */
  prepare(changes: PromptConfig, handler: PromptFn | undefined): () => void {
    const config = { ...this.#config, ...changes };
    const { validator } = this.#core.options;
    const owner = `prompt "${this.key}"`;
    refuseUnknown(owner, changes, PROMPT_OPTIONS, { parameters: { name: this.key } });
    checkShown(owner, config);
    const args =
      config.argsSchema === undefined ? undefined : toSchemaAdapter(config.argsSchema, 'prompt arguments', this.key, { validator });
    if (config.argsSchema !== undefined && args) refuseNonText(this.key, config.argsSchema, args.jsonSchema);
    return () => {
      this.#config = config;
      this.#args = args;
      if (handler) this.#handler = handler;
    };
  }

  checkArguments(args: JsonObject): SchemaOutcome<unknown> | Promise<SchemaOutcome<unknown>> {
    return this.#args ? this.#args.validate(args) : { value: undefined };
  }

  define(): JsonObject {
    const { title, description, icons, _meta } = this.#config;
    const definition: Record<string, JsonValue | undefined> = { name: this.key };
    if (title !== undefined) definition['title'] = title;
    if (description !== undefined) definition['description'] = description;
    if (this.#args) definition['arguments'] = toPromptArguments(this.#args.jsonSchema);
    if (icons !== undefined) definition['icons'] = icons;
    if (_meta !== undefined) definition['_meta'] = _meta;
    return definition;
  }
}

function propertiesOf(adapter: SchemaAdapter | undefined): JsonObject {
  const properties = adapter?.jsonSchema['properties'];
  return isJsonObject(properties) ? properties : {};
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
    const change = this.item.prepare(config, (handler ?? callback) as PromptFn | undefined);
    this.apply(change, name, enabled);
    if (this.item.hasCompleter) this.#onCompleter();
  }
}
