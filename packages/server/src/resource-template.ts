/** A family of resources behind one URI template: how its members are listed and how its variables are completed. */

import type { Annotations, Icon, MetaObject } from '@mortise/protocol/model';
import { UriTemplate } from '@mortise/protocol';
import type { Completer } from './completable.ts';
import { RegistrationError } from './errors.ts';

/** A member of a family as a list shows it. What it leaves out is taken from the template's registration. */
export interface ListedResource {
  readonly uri: string;
  readonly name?: string | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly mimeType?: string | undefined;
  readonly annotations?: Annotations | undefined;
  /** Bytes, before any encoding. */
  readonly size?: number | undefined;
  readonly icons?: readonly Icon[] | undefined;
  readonly _meta?: MetaObject | undefined;
}

/** Names the members of a family that exist now. `list(ctx)` is asked for every `resources/list`. */
export type ListResources<Context = unknown> = (
  ctx: Context,
) => { readonly resources: readonly ListedResource[] } | Promise<{ readonly resources: readonly ListedResource[] }>;

/** What a template can tell beside reading. */
export interface ResourceTemplateCallbacks {
  /** `undefined`, written out, where the members cannot be listed. */
  readonly list: ListResources | undefined;
  /** Suggestions by variable. */
  readonly complete?: Readonly<Record<string, Completer>> | undefined;
}

/**
 * A URI template (RFC 6570) with its list and its completions, for `registerResource`.
 *
 * ```ts
 * new ResourceTemplate('greeting://{name}', { list: undefined, complete: { name: (typed) => rank(typed, names) } })
 * ```
 *
 * @see 2026-07-28 server/resources#resource-templates
 */
export class ResourceTemplate {
  readonly uriTemplate: UriTemplate;
  readonly #callbacks: ResourceTemplateCallbacks;

  /**
   * @throws {UriTemplateError} `ERR_URI_TEMPLATE`: not a template of RFC 6570, or too long.
   * @throws {RegistrationError} `ERR_REGISTRATION`: `complete` names a variable that the template has not.
   */
  constructor(uriTemplate: string | UriTemplate, callbacks: ResourceTemplateCallbacks) {
    if (typeof uriTemplate !== 'string' && typeof (uriTemplate as UriTemplate | undefined)?.variableNames !== 'object')
      throw new RegistrationError('new ResourceTemplate(uriTemplate, { list }): "uriTemplate" must be a string such as "note://{id}"');
    const { complete = {} } = (callbacks as Partial<ResourceTemplateCallbacks> | undefined) ?? {};
    if (typeof callbacks !== 'object' || Object.values(complete).some((completer) => typeof completer !== 'function'))
      throw new RegistrationError(
        `template "${String(uriTemplate)}": the second argument is { list, complete: { variable: function } }, { list: undefined } where there is no list`,
      );
    this.uriTemplate = typeof uriTemplate === 'string' ? UriTemplate.parse(uriTemplate) : uriTemplate;
    this.#callbacks = callbacks;
    const names = this.uriTemplate.variableNames;
    const stranger = Object.keys(complete).find((name) => !names.includes(name));
    if (stranger !== undefined) {
      throw new RegistrationError(
        `template "${this.uriTemplate.toString()}": "complete" names "${stranger}", but the variables are ${names.join(', ')}`,
      );
    }
  }

  /** Lists the members; undefined where they cannot be listed. */
  get listCallback(): ListResources | undefined {
    return this.#callbacks.list;
  }

  /** The completer of a variable, if it has one. */
  completeCallback(variable: string): Completer | undefined {
    const { complete } = this.#callbacks;
    return complete !== undefined && Object.hasOwn(complete, variable) ? complete[variable] : undefined;
  }
}
