/** Registered resources and templates: what lists show of them, and what reads them. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import type { ResourceConfig } from '../config.ts';
import type { VisibilityContext } from '../context.ts';
import type { ResourceTemplate } from '../resource-template.ts';
import type { CatalogItem } from './catalog.ts';

/** A reader once its types no longer matter. */
export type ReadFn = (...args: readonly unknown[]) => unknown;

/** What both kinds have. */
abstract class ResourceItemBase {
  isEnabled = true;
  #config: ResourceConfig;
  #read: ReadFn;

  constructor(config: ResourceConfig, read: ReadFn) {
    this.#config = config;
    this.#read = read;
  }

  get visible(): ((ctx: VisibilityContext) => boolean) | undefined {
    return this.#config.visible;
  }
  get config(): ResourceConfig {
    return this.#config;
  }
  get read(): ReadFn {
    return this.#read;
  }

  change(changes: ResourceConfig, read: ReadFn | undefined): void {
    this.#config = { ...this.#config, ...changes };
    if (read) this.#read = read;
  }

  /** What the configuration shows in a list. */
  protected shown(): Record<string, JsonValue | undefined> {
    const { title, description, mimeType, annotations, icons, _meta } = this.#config;
    const members = { title, description, mimeType, annotations, icons, _meta };
    return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
  }
}

/** A resource at one address, which is its key. */
export class ResourceItem extends ResourceItemBase implements CatalogItem {
  key: string;
  name: string;

  constructor(uri: string, name: string, config: ResourceConfig, read: ReadFn) {
    super(config, read);
    this.key = uri;
    this.name = name;
  }

  define(): JsonObject {
    const { size } = this.config;
    return { uri: this.key, name: this.name, ...this.shown(), ...(size === undefined ? {} : { size }) };
  }
}

/** A family of resources. Its key is its name. */
export class TemplateItem extends ResourceItemBase implements CatalogItem {
  key: string;
  readonly template: ResourceTemplate;

  constructor(name: string, template: ResourceTemplate, config: ResourceConfig, read: ReadFn) {
    super(config, read);
    this.key = name;
    this.template = template;
  }

  define(): JsonObject {
    return { uriTemplate: this.template.uriTemplate.toString(), name: this.key, ...this.shown() };
  }

  /** What a member that the template lists shows where it does not say it itself. */
  defineMember(member: JsonObject): JsonObject {
    const { _meta: _own, ...shown } = this.shown();
    return { name: member['uri'], ...shown, ...member };
  }
}
