/** The resources and templates of an `McpServer`. */

import type { RequestHandlerExtra } from '../shared/protocol.ts';
import { ErrorCode, McpError, type Resource, type Result, type ServerNotification, type ServerRequest } from '../types.ts';
import type { Server } from './index.ts';
import type { RegisteredResource, RegisteredResourceTemplate } from './mcp-types.ts';
import { Items, onceServing } from './registered.ts';

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** What a resource or template is registered with. */
type ResourceParts<Item> = Omit<Item, 'enabled' | 'enable' | 'disable' | 'remove' | 'update'>;

export class Resources {
  readonly fixed: Items<RegisteredResource>;
  readonly templates: Items<RegisteredResourceTemplate>;
  /** Sets the handlers of resources, once. */
  readonly serve: () => void;

  constructor(
    server: Server,
    all: Record<string, RegisteredResource>,
    allTemplates: Record<string, RegisteredResourceTemplate>,
    onChange: () => void,
  ) {
    this.fixed = new Items('Resource', all, onChange);
    this.templates = new Items('Resource template', allTemplates, onChange);
    this.serve = onceServing(
      server,
      { resources: { listChanged: true } },
      {
        'resources/list': (_request, extra: Extra) => this.#list(extra),
        'resources/templates/list': () => ({
          resourceTemplates: Object.entries(this.templates.all).map(([name, { resourceTemplate, metadata }]) => ({
            name,
            uriTemplate: resourceTemplate.uriTemplate.toString(),
            ...metadata,
          })),
        }),
        'resources/read': ({ params }, extra: Extra) => this.#read(String(params?.['uri']), extra),
      },
    );
  }

  register(uri: string, parts: ResourceParts<RegisteredResource>): RegisteredResource {
    this.serve();
    return this.fixed.add(uri, parts, ({ uri: to, callback, ...changes }) => ({ ...changes, to, readCallback: callback }));
  }

  registerTemplate(name: string, parts: ResourceParts<RegisteredResourceTemplate>): RegisteredResourceTemplate {
    this.serve();
    return this.templates.add(name, parts, ({ name: to, template, callback, ...changes }) => ({
      ...changes,
      to,
      resourceTemplate: template,
      readCallback: callback,
    }));
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
