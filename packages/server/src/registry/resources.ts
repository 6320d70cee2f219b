/** The resources and templates of a server: how they are listed, found and read. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { checkCacheHints } from '../cache-hints.ts';
import type {
  RegisteredResource,
  RegisteredResourceTemplate,
  ResourceChanges,
  ResourceConfig,
  ResourceTemplateChanges,
} from '../config.ts';
import { onDemand } from '../on-demand.ts';
import type { RequestCall } from '../request-call.ts';
import { RegistrationError } from '../errors.ts';
import type { ResourceTemplate } from '../resource-template.ts';
import type { ServerCore } from '../server-core.ts';
import { type Asker, Catalog } from './catalog.ts';
import { CatalogHandle } from './catalog-handle.ts';
import { checkRegistration } from './check-registration.ts';
import { checkChanges, checkShown, checkUri } from './check-shown.ts';
import { refuseUnknown, RESOURCE_OPTIONS } from './refuse-unknown.ts';
import { type ReadFn, ResourceItem, TemplateItem } from './resource-items.ts';

const withReading = onDemand(() => import('./read-resource.ts'));

/** A resource that was found, and how it is read. */
export interface Found {
  readonly item: ResourceItem | TemplateItem;
  readonly args: readonly unknown[];
}

export class Resources {
  readonly #core: ServerCore;
  readonly #resources: Catalog<ResourceItem>;
  readonly #templates: Catalog<TemplateItem>;
  /** Told when a template that completes something is registered. */
  readonly #onCompleter: () => void;

  constructor(core: ServerCore, onCompleter: () => void) {
    this.#core = core;
    this.#onCompleter = onCompleter;
    this.#resources = new Catalog({ core, kind: 'resources', noun: 'resource', method: 'resources/list', member: 'resources' });
    this.#templates = new Catalog({
      core,
      kind: 'resources',
      noun: 'resource template',
      method: 'resources/templates/list',
      member: 'resourceTemplates',
    });
    core.setMethod('resources/list', { isBounded: true, run: (_params, call) => this.#list(call) });
    core.setMethod('resources/templates/list', { isBounded: true, run: (_params, call) => this.#templates.list(call) });
    core.setMethod('resources/read', {
      isBounded: true,
      run: (params, call) => withReading(({ readResource }) => readResource(this, params['uri'] as string, call)),
    });
  }

  /** Templates may list members of their own beside the registered resources. */
  #list(call: RequestCall): JsonObject | Promise<JsonObject> {
    const listable = this.#templates.items.filter(({ template }) => template.listCallback);
    if (listable.length === 0) return this.#resources.list(call);
    return withReading(({ listWithMembers }) => listWithMembers(this.#resources, this.#templates, listable, call));
  }

  register(name: string, uri: string, config: ResourceConfig, read: ReadFn): RegisteredResource {
    checkRegistration('resource', name, config, read);
    checkUri(`resource "${name}"`, uri);
    checkConfig(`resource "${name}"`, config, { name, uri });
    const item = new ResourceItem(uri, name, config, read);
    this.#resources.add(item);
    this.#declare();
    return new ResourceHandle(item, this.#resources);
  }

  registerTemplate(name: string, template: ResourceTemplate, config: ResourceConfig, read: ReadFn): RegisteredResourceTemplate {
    checkRegistration('resource', name, config, read);
    // By structure: a server without templates does not load what matches URIs.
    if (typeof (template as Partial<ResourceTemplate> | null)?.completeCallback !== 'function')
      throw new RegistrationError(`resource "${name}": the second parameter is a URI as a string, or a new ResourceTemplate(...)`);
    checkConfig(`resource template "${name}"`, config, { name, uriTemplate: template.uriTemplate.toString() });
    const item = new TemplateItem(name, template, config, read);
    this.#templates.add(item);
    this.#declare();
    if (template.uriTemplate.variableNames.some((variable) => template.completeCallback(variable))) this.#onCompleter();
    return new TemplateHandle(item, this.#templates);
  }

  /** The template that a reference names: by itself, or by an address of its family. */
  findTemplate(uri: string, asker: Asker): TemplateItem | undefined {
    const named = this.#templates.findBy(asker, ({ template }) => template.uriTemplate.toString() === uri);
    return named ?? this.#templates.findBy(asker, ({ template }) => template.uriTemplate.match(uri) !== undefined);
  }

  /** Whether there is a resource at an address itself. */
  hasResource(uri: string, asker: Asker): boolean {
    return this.#resources.find(uri, asker) !== undefined;
  }

  /** What a URI names, and how it is read. */
  findReadable(uri: string, call: RequestCall): Found | undefined {
    const item = this.#resources.find(uri, call) ?? this.#resources.find(new URL(uri).href, call);
    if (item) return { item, args: [] };
    const template = this.#templates.findBy(call, (candidate) => candidate.template.uriTemplate.match(uri) !== undefined);
    return template && { item: template, args: [template.template.uriTemplate.match(uri)] };
  }

  #declare(): void {
    this.#core.registerCapability('resources', { listChanged: true, subscribe: true });
  }
}

function checkConfig(owner: string, config: ResourceConfig, parameters: Readonly<Record<string, string>>): void {
  refuseUnknown(owner, config, RESOURCE_OPTIONS, { parameters });
  checkShown(owner, config);
  checkCacheHints(owner, config);
}

class ResourceHandle extends CatalogHandle<ResourceItem> implements RegisteredResource {
  override get name(): string {
    return this.item.name;
  }
  get uri(): string {
    return this.item.key;
  }

  update(changes: ResourceChanges): void {
    checkChanges(`resource "${this.name}"`, changes);
    const { name, uri, enabled, read, callback, ...config } = changes;
    if (uri === null) return this.remove();
    if (uri !== undefined) checkUri(`resource "${this.name}"`, uri);
    checkConfig(`resource "${this.name}"`, config, {});
    const change = (): void => {
      this.item.change(config, (read ?? callback) as ReadFn | undefined);
      if (name !== undefined) this.item.name = name;
    };
    this.apply(change, uri, enabled);
  }
}

class TemplateHandle extends CatalogHandle<TemplateItem> implements RegisteredResourceTemplate {
  get uriTemplate(): string {
    return this.item.template.uriTemplate.toString();
  }

  update(changes: ResourceTemplateChanges): void {
    checkChanges(`resource template "${this.name}"`, changes);
    const { name, enabled, read, callback, ...config } = changes;
    if (name === null) return this.remove();
    checkConfig(`resource template "${this.name}"`, config, { uriTemplate: this.uriTemplate });
    this.apply(() => this.item.change(config, (read ?? callback) as ReadFn | undefined), name, enabled);
  }
}
