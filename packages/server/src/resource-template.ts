/** A resource template: a URI template with callbacks to list its resources and to complete its variables. */

import type { Annotations, Icon, MetaObject } from '@mortise/protocol/model';
import { UriTemplate } from '@mortise/protocol';
import type { Completer } from './completable.ts';
import { RegistrationError } from './errors.ts';

/** A resource that the `list` callback of a template returns. Members that are left out come from the template's registration. */
export interface ListedResource {
  readonly uri: string;
  readonly name?: string | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly mimeType?: string | undefined;
  readonly annotations?: Annotations | undefined;
  /** The size of the content in bytes, before any encoding. */
  readonly size?: number | undefined;
  readonly icons?: readonly Icon[] | undefined;
  readonly _meta?: MetaObject | undefined;
}

/** Lists the resources that match a template and exist now. Called for every `resources/list` request. */
export type ListResources<Context = unknown> = (
  ctx: Context,
) => { readonly resources: readonly ListedResource[] } | Promise<{ readonly resources: readonly ListedResource[] }>;

/** The second argument of `new ResourceTemplate`: lists the template's resources and completes its variables. */
export interface ResourceTemplateCallbacks {
  /** Lists the template's resources. Must be given: pass `undefined` if they cannot be listed. */
  readonly list: ListResources | undefined;
  /** Functions that suggest values, by variable of the template. */
  readonly complete?: Readonly<Record<string, Completer>> | undefined;
}

/**
 * A URI template (RFC 6570) with functions that list its resources and complete its variables, for `registerResource`.
 *
 * ```ts
 * new ResourceTemplate('greeting://{name}', { list: undefined, complete: { name: (typed) => rank(typed, names) } })
 * ```
 *
 * @see 2026-07-28 server/resources#resource-templates
 */
export class ResourceTemplate {
  /** The parsed URI template. */
  readonly uriTemplate: UriTemplate;
  readonly #callbacks: ResourceTemplateCallbacks;

  /**
   * @throws {UriTemplateError} `ERR_URI_TEMPLATE`: `uriTemplate` is not a template of RFC 6570, or it is too long.
   * @throws {RegistrationError} `ERR_REGISTRATION`: `complete` names a variable that the template does not have.
   */
  constructor(uriTemplate: string | UriTemplate, callbacks: ResourceTemplateCallbacks) {
    if (typeof uriTemplate !== 'string' && typeof (uriTemplate as UriTemplate | undefined)?.variableNames !== 'object')
      throw new RegistrationError('new ResourceTemplate(uriTemplate, { list }): "uriTemplate" must be a string such as "note://{id}"');
    const { complete = {} } = (callbacks as Partial<ResourceTemplateCallbacks> | undefined) ?? {};
    if (typeof callbacks !== 'object' || Object.values(complete).some((completer) => typeof completer !== 'function'))
      throw new RegistrationError(
        `template "${String(uriTemplate)}": the second argument must be { list, complete: { variable: function } }, or { list: undefined } if there is no list`,
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

  /** The callback that lists the template's resources. Undefined if they cannot be listed. */
  get listCallback(): ListResources | undefined {
    return this.#callbacks.list;
  }

  /** Returns the function that suggests values for a variable of the template, if there is one. */
  completeCallback(variable: string): Completer | undefined {
    const { complete } = this.#callbacks;
    return complete !== undefined && Object.hasOwn(complete, variable) ? complete[variable] : undefined;
  }
}
