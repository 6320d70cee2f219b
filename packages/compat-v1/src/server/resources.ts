/** The resources and templates of an `McpServer`. */

import type { RequestHandlerExtra } from '../shared/protocol.ts';
import { ErrorCode, McpError, type Resource, type Result, type ServerNotification, type ServerRequest } from '../types.ts';
import type { Server } from './index.ts';
import type {
  ReadResourceCallback,
  ReadResourceTemplateCallback,
  RegisteredResource,
  RegisteredResourceTemplate,
  ResourceMetadata,
} from './mcp-types.ts';
import { assignGiven, Items } from './registered.ts';
import type { ResourceTemplate } from './resource-template.ts';

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

export class Resources {
  readonly fixed: Items<RegisteredResource>;
  readonly templates: Items<RegisteredResourceTemplate>;
  readonly #server: Server;
  readonly #onChange: () => void;
  #isServed = false;

  constructor(
    server: Server,
    all: Record<string, RegisteredResource>,
    allTemplates: Record<string, RegisteredResourceTemplate>,
    onChange: () => void,
  ) {
    this.#server = server;
    this.fixed = new Items('Resource', all, onChange);
    this.templates = new Items('Resource template', allTemplates, onChange);
    this.#onChange = onChange;
  }

  /** Sets the handlers of resources, once. */
  serve(): void {
    if (this.#isServed) return;
    const server = this.#server;
    for (const method of ['resources/list', 'resources/templates/list', 'resources/read']) server.assertCanSetRequestHandler(method);
    server.registerCapabilities({ resources: { listChanged: true } });
    server._setHandler('resources/list', (_request, extra) => this.#list(extra as unknown as Extra));
    server._setHandler('resources/templates/list', () => ({
      resourceTemplates: Object.entries(this.templates.all).map(([name, { resourceTemplate, metadata }]) => ({
        name,
        uriTemplate: resourceTemplate.uriTemplate.toString(),
        ...metadata,
      })),
    }));
    server._setHandler('resources/read', ({ params }, extra) => this.#read(String(params?.['uri']), extra as unknown as Extra));
    this.#isServed = true;
  }

  register(
    name: string,
    uri: string,
    title: string | undefined,
    metadata: ResourceMetadata | undefined,
    readCallback: ReadResourceCallback,
  ): RegisteredResource {
    this.fixed.assertFree(uri);
    const { move, ...handle } = this.fixed.handle(uri, () => resource);
    const resource: RegisteredResource = {
      name,
      title,
      metadata,
      readCallback,
      enabled: true,
      ...handle,
      update: ({ uri: to, callback, ...changes }) => {
        move(to);
        assignGiven(resource, { ...changes, readCallback: callback });
        this.#onChange();
      },
    };
    this.fixed.all[uri] = resource;
    this.serve();
    this.#onChange();
    return resource;
  }

  registerTemplate(
    name: string,
    resourceTemplate: ResourceTemplate,
    title: string | undefined,
    metadata: ResourceMetadata | undefined,
    readCallback: ReadResourceTemplateCallback,
  ): RegisteredResourceTemplate {
    this.templates.assertFree(name);
    const { move, ...handle } = this.templates.handle(name, () => template);
    const template: RegisteredResourceTemplate = {
      resourceTemplate,
      title,
      metadata,
      readCallback,
      enabled: true,
      ...handle,
      update: ({ name: to, template: at, callback, ...changes }) => {
        move(to);
        assignGiven(template, { ...changes, resourceTemplate: at, readCallback: callback });
        this.#onChange();
      },
    };
    this.templates.all[name] = template;
    this.serve();
    this.#onChange();
    return template;
  }

  async #list(extra: Extra): Promise<Result> {
    const resources: Resource[] = this.fixed.enabled.map(([uri, { name, metadata }]) => ({ uri, name, ...metadata }));
    for (const { resourceTemplate, metadata } of Object.values(this.templates.all)) {
      const listed = await resourceTemplate.listCallback?.(extra);
      for (const resource of listed?.resources ?? []) resources.push({ ...metadata, ...resource });
    }
    return { resources };
  }

  async #read(text: string, extra: Extra): Promise<Result> {
    const uri = new URL(text);
    const resource = this.fixed.find(uri.toString());
    if (resource?.enabled === false) throw new McpError(ErrorCode.InvalidParams, `Resource ${uri.href} disabled`);
    if (resource) return resource.readCallback(uri, extra);
    for (const { resourceTemplate, readCallback } of Object.values(this.templates.all)) {
      const variables = resourceTemplate.uriTemplate.match(uri.toString());
      if (variables) return readCallback(uri, variables, extra);
    }
    throw new McpError(ErrorCode.InvalidParams, `Resource ${uri.href} not found`);
  }
}
