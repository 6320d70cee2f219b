/** The resources and templates of a server: how they are registered, listed, found and read. */

import { type JsonObject, type JsonValue, ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS, isJsonObject } from '@mortise/jsonrpc-core/messages';
import { resourceNotFoundError } from '@mortise/protocol/wire';
import type { RegisteredResource, RegisteredResourceTemplate, ResourceConfig } from '../config.ts';
import type { Context } from '../context.ts';
import { InvalidHandlerResultError, RegistrationError } from '../errors.ts';
import type { McpServer } from '../mcp-server.ts';
import type { ResourceTemplate } from '../resource-template.ts';
import { type Asker, Catalog, CatalogHandle, CatalogItem, defined, type HandlerFn } from './catalog.ts';
import { checkRegistration, checkUri } from './check-registration.ts';
import { toReadResult } from './read-result.ts';

/** Positions among templates' members: the template's place and how many of its members were shown. */
const MEMBER_POSITION = /^t(\d+):(\d+)$/;
const POSITION = /^(?:\d+|t\d+:\d+)$/;

export class Resources {
  readonly #server: McpServer;
  readonly #resources: Catalog<ResourceItem>;
  readonly #templates: Catalog<TemplateItem>;

  constructor(server: McpServer) {
    this.#server = server;
    const kind = 'resources';
    this.#resources = new Catalog({ server, kind, noun: 'resource', method: 'resources/list', member: 'resources' });
    this.#templates = new Catalog({
      server,
      kind,
      noun: 'resource template',
      method: 'resources/templates/list',
      member: 'resourceTemplates',
    });
    server.setMethod('resources/list', { run: (_params, context) => this.#list(context) });
    server.setMethod('resources/templates/list', { run: (_params, context) => this.#templates.list(context) });
    server.setMethod('resources/read', { run: (params, context) => this.#read(params['uri'] as string, context) });
  }

  register(name: string, uri: string, config: ResourceConfig, read: HandlerFn): RegisteredResource {
    checkRegistration('resource', name, config, read);
    checkUri(`resource "${name}"`, uri);
    const item = new ResourceItem(uri, name, config, read);
    this.#resources.add(item);
    this.#server.registerCapability('resources', { listChanged: true, subscribe: true });
    return new ResourceHandle(item, this.#resources);
  }

  registerTemplate(name: string, template: ResourceTemplate, config: ResourceConfig, read: HandlerFn): RegisteredResourceTemplate {
    checkRegistration('resource', name, config, read);
    // By structure: a server without templates does not load what matches URIs.
    if (typeof (template as Partial<ResourceTemplate> | null)?.completeCallback !== 'function')
      throw new RegistrationError(`resource "${name}": the second parameter is a URI as a string, or a new ResourceTemplate(...)`);
    const item = new TemplateItem(name, template, config, read);
    this.#templates.add(item);
    this.#server.registerCapability('resources', { listChanged: true, subscribe: true });
    if (template.uriTemplate.variableNames.some((variable) => template.completeCallback(variable))) this.#server.serveCompletions();
    return new TemplateHandle(item, this.#templates);
  }

  /** The template that a reference names: by itself, or by an address of its family. */
  findTemplate(uri: string, asker: Asker): TemplateItem | undefined {
    const named = this.#templates.findBy(asker, ({ template }) => template.uriTemplate.toString() === uri);
    return named ?? this.#templates.findBy(asker, ({ template }) => template.uriTemplate.match(uri) !== undefined);
  }

  /** The resource at an address itself. */
  findResource(uri: string, asker: Asker): ResourceItem | undefined {
    return this.#resources.find(uri, asker);
  }

  /** @throws {ProtocolError} -32602, or the revision's own code: there is no such resource for this caller. */
  async #read(uri: string, context: Context): Promise<JsonObject> {
    if (!URL.canParse(uri)) throw new ProtocolError(INVALID_PARAMS, 'The resource\'s "uri" is not an absolute URI', { uri });
    const url = new URL(uri);
    const notFound = resourceNotFoundError(uri, context.revision.rules.resourceNotFoundCode);
    const resource = this.#resources.find(uri, context) ?? this.#resources.find(url.href, context);
    const template = resource ? undefined : this.#templates.findBy(context, (item) => item.template.uriTemplate.match(uri) !== undefined);
    const item = resource ?? template;
    if (!item) throw notFound;
    const variables = template ? [template.template.uriTemplate.match(uri)] : [];
    const { handler, config } = item;
    const { mimeType, ttlMs, cacheScope } = config;
    const result = toReadResult(await handler(url, ...variables, context.forHandler()), { uri, mimeType });
    if (!result) throw notFound;
    return { ...(ttlMs === undefined ? {} : { ttlMs }), ...(cacheScope === undefined ? {} : { cacheScope }), ...result };
  }

  /** The registered resources, then the members that templates list, as one paged list. */
  #list(context: Context): JsonObject | Promise<JsonObject> {
    const listable = this.#templates.items.filter(({ template }) => template.listCallback);
    return listable.length === 0 ? this.#resources.list(context) : this.#listWithMembers(listable, context);
  }

  async #listWithMembers(listable: readonly TemplateItem[], context: Context): Promise<JsonObject> {
    const { pageSize = 1000 } = this.#server.options;
    const start = this.#resources.startOf(context, POSITION);
    const member = MEMBER_POSITION.exec(start);
    const page = member ? { items: [], next: undefined } : this.#resources.page(context, start);
    let index = Number(member?.[1] ?? 0);
    let offset = Number(member?.[2] ?? 0);
    for (; index < listable.length && page.next === undefined; index++, offset = 0) {
      const item = listable[index];
      if (!item || !this.#templates.isVisible(item, context)) continue;
      const members = await listMembers(item, context);
      const end = offset + pageSize - page.items.length;
      for (const definition of members.slice(offset, end)) {
        const shown = this.#resources.shape(definition, context.revision);
        if (shown) page.items.push(shown);
      }
      if (members.length > end) page.next = `t${index}:${end}`;
    }
    // What a callback lists may depend on who asks.
    return this.#resources.toResult(page, context, true);
  }
}

async function listMembers(item: TemplateItem, context: Context): Promise<readonly JsonObject[]> {
  const fault = new InvalidHandlerResultError(`resource template "${item.key}": its list must give { resources: [{ uri, ... }] }`);
  const listed = await item.template.listCallback?.(context.forHandler());
  if (!isJsonObject(listed) || !Array.isArray(listed['resources'])) throw fault;
  return listed['resources'].map((member: JsonValue) => {
    if (!isJsonObject(member) || typeof member['uri'] !== 'string') throw fault;
    return item.defineMember(member);
  });
}

/** What lists show of resources and templates alike. */
function shownOf({ title, description, mimeType, annotations, icons, _meta }: ResourceConfig): JsonObject {
  return defined({ title, description, mimeType, annotations, icons, _meta });
}

/** A resource at one address, which is its key. */
class ResourceItem extends CatalogItem<ResourceConfig> {
  readonly kind = 'resource';
  override readonly keyOption = 'uri';
  #name: string;

  constructor(uri: string, name: string, config: ResourceConfig, read: HandlerFn) {
    super(uri, read);
    this.#name = name;
    super.prepare(config)();
  }

  override get name(): string {
    return this.#name;
  }

  override checkKey(uri: string): void {
    checkUri(this.label, uri);
  }

  override prepare({ name = this.#name, ...changes }: ResourceConfig & { readonly name?: string }, read?: HandlerFn): () => void {
    const apply = super.prepare(changes, read);
    return () => {
      apply();
      this.#name = name;
    };
  }

  define(): JsonObject {
    const { size } = this.config;
    return { uri: this.key, name: this.name, ...shownOf(this.config), ...(size === undefined ? {} : { size }) };
  }
}

/** A family of resources. Its key is its name. */
class TemplateItem extends CatalogItem<ResourceConfig> {
  readonly kind = 'resource';
  readonly template: ResourceTemplate;

  constructor(name: string, template: ResourceTemplate, config: ResourceConfig, read: HandlerFn) {
    super(name, read);
    this.template = template;
    this.prepare(config)();
  }

  override get label(): string {
    return `resource template "${this.name}"`;
  }

  define(): JsonObject {
    return { uriTemplate: this.template.uriTemplate.toString(), name: this.key, ...shownOf(this.config) };
  }

  /** What a member that the template lists shows where it does not say it itself. */
  defineMember(member: JsonObject): JsonObject {
    const { _meta: _own, ...shown } = shownOf(this.config);
    return { name: member['uri'], ...shown, ...member };
  }
}

class ResourceHandle extends CatalogHandle<ResourceItem> implements RegisteredResource {
  get uri(): string {
    return this.item.key;
  }
}

class TemplateHandle extends CatalogHandle<TemplateItem> implements RegisteredResourceTemplate {
  get uriTemplate(): string {
    return this.item.template.uriTemplate.toString();
  }
}
