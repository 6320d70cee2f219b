/** The resources and resource templates of a server: registers, lists, finds and reads them. */

import { type JsonObject, type JsonValue, ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS, isJsonObject } from '@mortise/jsonrpc-core/messages';
import { toBase64 } from '@mortise/jsonrpc-core/encoding';
import type { ReadResourceResult } from '@mortise/protocol';
import { resourceNotFoundError } from '@mortise/protocol/wire';
import { isCacheScope, isTtl } from '../options.ts';
import type { RegisteredResource, RegisteredResourceTemplate, ResourceChanges, ResourceConfig } from '../config.ts';
import type { Context } from '../context.ts';
import { InvalidHandlerResultError, RegistrationError } from '../errors.ts';
import type { McpServer } from '../mcp-server.ts';
import type { ResourceTemplate } from '../resource-template.ts';
import { type Asker, Catalog } from './catalog.ts';
import { CatalogItem, defined, type HandlerFn, LISTED } from './catalog-item.ts';

const OPTIONS = { ...LISTED, mimeType: 'string', annotations: 'object', size: 0, ttlMs: 0, cacheScope: 'string' } as const;

/** A position in `resources/list`: the number of a registered resource, or `m` and how many resources listed by templates came before. */
const POSITION = /^m?\d+$/;
const MEMBERS = 'm';

export class Resources {
  readonly #server: McpServer;
  readonly #resources: Catalog<ResourceItem>;
  readonly #templates: Catalog<TemplateItem>;

  constructor(server: McpServer) {
    this.#server = server;
    const shared = { server, kind: 'resources', options: OPTIONS } as const;
    this.#resources = new Catalog({ ...shared, noun: 'resource', method: 'resources/list', member: 'resources', keyOption: 'uri' });
    this.#templates = new Catalog({
      ...shared,
      noun: 'resource template',
      method: 'resources/templates/list',
      member: 'resourceTemplates',
    });
    server.methods.set('resources/list', { run: (_params, context) => this.#list(context) });
    server.methods.set('resources/templates/list', { run: (_params, context) => this.#templates.list(context) });
    server.methods.set('resources/read', { run: (params, context) => this.#read(params['uri'] as string, context) });
  }

  register(name: string, uri: string, config: ResourceConfig, read: HandlerFn): RegisteredResource {
    return this.#resources.add(new ResourceItem(this.#resources, uri, name, config, read));
  }

  registerTemplate(name: string, template: ResourceTemplate, config: ResourceConfig, read: HandlerFn): RegisteredResourceTemplate {
    // Checked by structure, so that a server without templates does not load the URI matching code.
    if (typeof (template as Partial<ResourceTemplate> | null)?.completeCallback !== 'function')
      throw new RegistrationError(`resource "${name}": the second parameter must be a URI string or a new ResourceTemplate(...)`);
    const item = this.#templates.add(new TemplateItem(this.#templates, name, template, config, read));
    if (template.uriTemplate.variableNames.some((variable) => template.completeCallback(variable))) this.#server.serveCompletions();
    return item;
  }

  /** Finds a resource template by its text, such as `note://{id}`, or by a URI that matches it. */
  findTemplate(uri: string, asker: Asker): TemplateItem | undefined {
    const visible = this.#templates.items.filter((item) => this.#templates.isVisible(item, asker));
    return (
      visible.find((item) => item.uriTemplate === uri) ?? visible.find(({ template }) => template.uriTemplate.match(uri) !== undefined)
    );
  }

  /** Finds the resource registered at this URI, if it is visible to the caller. */
  findResource(uri: string, asker: Asker): ResourceItem | undefined {
    return this.#resources.find(uri, asker);
  }

  /** Serves `resources/read`. @throws {ProtocolError} -32602, or the revision's own code: no such resource is visible to this caller. */
  async #read(uri: string, context: Context): Promise<JsonObject> {
    if (!URL.canParse(uri)) throw new ProtocolError(INVALID_PARAMS, 'The resource\'s "uri" is not an absolute URI', { uri });
    const url = new URL(uri);
    const value = await this.#run(uri, url, context);
    const result = value && toReadResult(value.read, { uri, mimeType: value.config.mimeType });
    if (!result) throw resourceNotFoundError(uri, context.revision.rules.resourceNotFoundCode);
    const { ttlMs, cacheScope } = value.config;
    return { ...defined({ ttlMs, cacheScope }), ...result };
  }

  /** Calls the reader of a resource and returns its value. Undefined if no such resource is visible to this caller. */
  async #run(uri: string, url: URL, context: Context): Promise<{ readonly read: unknown; readonly config: ResourceConfig } | undefined> {
    const resource = this.#resources.find(uri, context) ?? this.#resources.find(url.href, context);
    if (resource) return { read: await resource.handler.call(undefined, url, context.forHandler()), config: resource.config };
    for (const item of this.#templates.items) {
      const variables = item.template.uriTemplate.match(uri);
      if (variables && this.#templates.isVisible(item, context))
        return { read: await item.handler.call(undefined, url, variables, context.forHandler()), config: item.config };
    }
    return undefined;
  }

  /** Serves `resources/list`: first the registered resources, then those that templates' `list` callbacks return, as one paged list. */
  #list(context: Context): JsonObject | Promise<JsonObject> {
    const listable = this.#templates.items.filter(({ template }) => template.listCallback);
    return listable.length === 0 ? this.#resources.list(context) : this.#listWithMembers(listable, context);
  }

  async #listWithMembers(listable: readonly TemplateItem[], context: Context): Promise<JsonObject> {
    const start = this.#resources.startOf(context, POSITION);
    const isAmongMembers = start.startsWith(MEMBERS);
    const page = isAmongMembers ? { items: [], next: undefined } : this.#resources.page(context, start);
    if (page.next !== undefined) return this.#resources.toResult(page, context, true);
    const visible = listable.filter((item) => this.#templates.isVisible(item, context));
    const members = (await Promise.all(visible.map((item) => listMembers(item, context)))).flat();
    const offset = isAmongMembers ? Number(start.slice(MEMBERS.length)) : 0;
    const end = offset + (this.#server.options.pageSize ?? 1000) - page.items.length;
    const shown = members
      .slice(offset, end)
      .map((member) => this.#resources.shape(member, context.revision))
      .filter((member) => member !== undefined);
    const next = members.length > end ? `${MEMBERS}${end}` : undefined;
    // A template's list callback may depend on the caller, so the list is private.
    return this.#resources.toResult({ items: [...page.items, ...shown], next }, context, true);
  }
}

async function listMembers(item: TemplateItem, context: Context): Promise<readonly JsonObject[]> {
  const fault = new InvalidHandlerResultError(`${item.label}: its list callback must return { resources: [{ uri, ... }] }`);
  const listed = await item.template.listCallback?.(context.forHandler());
  if (!isJsonObject(listed) || !Array.isArray(listed['resources'])) throw fault;
  return listed['resources'].map((member: JsonValue) => {
    if (!isJsonObject(member) || typeof member['uri'] !== 'string') throw fault;
    return item.defineMember(member);
  });
}

/** Returns the members of a list entry that resources and templates have in common, such as `title` and `mimeType`. */
function shownOf({ title, description, mimeType, annotations, icons, _meta }: ResourceConfig): JsonObject {
  return defined({ title, description, mimeType, annotations, icons, _meta });
}

/** Checks the options of a resource or template. @see 2026-07-28 server/resources#annotations, server/utilities/caching */
function checkResource(label: string, { annotations = {}, ttlMs = 0, cacheScope = 'private' }: ResourceConfig): void {
  const { audience = [], priority = 0, lastModified = '1970-01-01' } = annotations;
  const isAudience = [audience].flat().every((role) => role === 'user' || role === 'assistant');
  if (!isAudience || !(priority >= 0 && priority <= 1) || Number.isNaN(Date.parse(lastModified)))
    throw new RegistrationError(
      `${label}: in "annotations", "audience" must be "user", "assistant" or both, "priority" a number from 0 to 1, "lastModified" an ISO 8601 date`,
    );
  if (!isTtl(ttlMs) || !isCacheScope(cacheScope))
    throw new RegistrationError(
      `${label}: "ttlMs" must be an integer of 0 or more milliseconds, "cacheScope" must be "public" or "private"`,
    );
}

/** Matches an absolute URI of RFC 3986: a scheme, then only characters that are allowed in a URI. */
const URI = /^[A-Za-z][A-Za-z0-9+.-]*:[\w.~:/?#[\]@!$&'()*+,;=%-]*$/;

/** A resource registered at one URI. Its URI is its key. */
class ResourceItem extends CatalogItem<ResourceConfig> implements RegisteredResource {
  get uri(): string {
    return this.key;
  }

  override update({ name = this.name, ...changes }: ResourceChanges = {}): void {
    super.update(changes);
    this.name = name;
  }

  protected override prepare(uri: string, config: ResourceConfig): void {
    checkResource(this.label, config);
    if (URI.test(uri) && URL.canParse(uri)) return;
    const remedy = String(uri).includes('{')
      ? 'for a template, pass new ResourceTemplate(...)'
      : 'percent-encode the characters that a URI must not have';
    throw new RegistrationError(`${this.label}: "${uri}" is not an absolute URI of RFC 3986: ${remedy}`);
  }

  override define(): JsonObject {
    const { size } = this.config;
    return { uri: this.key, name: this.name, ...shownOf(this.config), ...(size === undefined ? {} : { size }) };
  }
}

/** A registered resource template. Its name is its key. */
class TemplateItem extends CatalogItem<ResourceConfig> implements RegisteredResourceTemplate {
  readonly template: ResourceTemplate;

  constructor(catalog: Catalog<TemplateItem>, name: string, template: ResourceTemplate, config: ResourceConfig, read: HandlerFn) {
    super(catalog, name, name, config, read);
    this.template = template;
  }

  get uriTemplate(): string {
    return this.template.uriTemplate.toString();
  }

  protected override prepare(_name: string, config: ResourceConfig): void {
    checkResource(this.label, config);
  }

  override define(): JsonObject {
    return { uriTemplate: this.uriTemplate, name: this.key, ...shownOf(this.config) };
  }

  /** Adds the template's title, description and other options to a resource that its `list` callback returned. */
  defineMember(member: JsonObject): JsonObject {
    const { _meta: _own, ...shown } = shownOf(this.config);
    return { name: member['uri'], ...shown, ...member };
  }
}

// ---- what a reader gives

/** The requested URI and the registered media type of a resource that is read. */
interface ReadSubject {
  readonly uri: string;
  readonly mimeType: string | undefined;
}

/**
 * Converts what a resource's reader returned to a result. Text, bytes, one item or several become `contents`. An item without a URI gets
 * the requested URI, an item without a media type gets the registered one.
 *
 * @returns Undefined if the reader returned undefined, which means that there is no such resource.
 * @throws {InvalidHandlerResultError} `ERR_HANDLER_RESULT`: the value is not a valid result.
 * @see 2026-07-28 server/resources#resource-contents
 */
function toReadResult(value: unknown, subject: ReadSubject): JsonObject | undefined {
  if (value === undefined) return undefined;
  const { contents = [value].flat(), resultType, ...rest } = (isWhole(value) ? value : {}) as Partial<ReadResourceResult>;
  if (typeof resultType === 'string' && resultType !== 'complete') return value as JsonObject;
  if (!Array.isArray(contents)) throw readFault(subject, '"contents" must be an array');
  return { ...rest, contents: contents.map((item: unknown) => toContent(item, subject)) };
}

function isWhole(value: unknown): boolean {
  return isJsonObject(value) && ('contents' in value || 'resultType' in value);
}

function toContent(item: unknown, subject: ReadSubject): JsonObject {
  const given = typeof item === 'string' ? { text: item } : item instanceof Uint8Array ? { blob: item } : item;
  const { uri = subject.uri, mimeType = subject.mimeType, text, blob, ...rest } = (given ?? {}) as RawContent;
  const data = blob instanceof Uint8Array ? toBase64(blob) : blob;
  if ((typeof text === 'string') === (typeof data === 'string'))
    throw readFault(subject, 'each of "contents" must have either "text" as a string or "blob" as base64 or bytes');
  return { uri, ...(mimeType === undefined ? {} : { mimeType }), ...(text === undefined ? { blob: data } : { text }), ...rest };
}

interface RawContent {
  readonly uri?: string;
  readonly mimeType?: string;
  readonly text?: string;
  readonly blob?: string | Uint8Array;
}

function readFault({ uri }: ReadSubject, reason: string): InvalidHandlerResultError {
  return new InvalidHandlerResultError(`resource "${uri}": ${reason}: return text, bytes, { text }, { blob } or { contents: [...] }`);
}
