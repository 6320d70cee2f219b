/** `ResourceTemplate`: a URI template with the functions that list its resources and complete its variables. */

import { UriTemplate } from '../shared/uriTemplate.ts';
import type { ListResourcesCallback } from './mcp-types.ts';

/** Returns the values that complete a text. */
export type CompleteResourceTemplateCallback = (
  value: string,
  context?: { arguments?: Record<string, string> },
) => string[] | Promise<string[]>;

export class ResourceTemplate {
  readonly #template: UriTemplate;
  readonly #callbacks: {
    list: ListResourcesCallback | undefined;
    complete?: { [variable: string]: CompleteResourceTemplateCallback };
  };

  /** @param callbacks.list Lists resources of the template; pass `list: undefined` if they cannot be listed. */
  constructor(
    uriTemplate: string | UriTemplate,
    callbacks: { list: ListResourcesCallback | undefined; complete?: { [variable: string]: CompleteResourceTemplateCallback } },
  ) {
    this.#template = typeof uriTemplate === 'string' ? new UriTemplate(uriTemplate) : uriTemplate;
    this.#callbacks = callbacks;
  }

  get uriTemplate(): UriTemplate {
    return this.#template;
  }

  get listCallback(): ListResourcesCallback | undefined {
    return this.#callbacks.list;
  }

  completeCallback(variable: string): CompleteResourceTemplateCallback | undefined {
    return this.#callbacks.complete?.[variable];
  }
}
