/** Checks what lists show of an item beside its schemas: icons, annotations, addresses. */

import type { Annotations, Icon } from '@mortise/protocol';
import { checkType, checkTypes, type Kind } from '../check-types.ts';
import { RegistrationError } from '../errors.ts';

/** What is checked of a registration. */
export interface Shown {
  readonly icons?: readonly Icon[] | undefined;
  readonly annotations?: Annotations | undefined;
}

const ICON_SCHEMES = /^(?:https:\/\/|data:)/i;
/** RFC 3986: a scheme, then only characters that a URI may have. */
const URI = /^[A-Za-z][A-Za-z0-9+.-]*:[\w.~:/?#[\]@!$&'()*+,;=%-]*$/;
const ISO_8601 = /^\d{4}-\d{2}-\d{2}(?:[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:[Zz]|[+-]\d{2}:?\d{2})?)?$/;

const LISTED: Readonly<Record<string, Kind>> = {
  title: 'string',
  description: 'string',
  mimeType: 'string',
  size: 'amount',
  icons: 'list',
  annotations: 'object',
  scopes: 'list',
  visible: 'function',
  _meta: 'object',
};

const CHANGES: Readonly<Record<string, Kind>> = { handler: 'function', callback: 'function', read: 'function', enabled: 'boolean' };

/** @throws {RegistrationError} `ERR_REGISTRATION`: what `update` of a handle was given is no object, or has a member of another type. */
export function checkChanges(owner: string, changes: unknown): void {
  checkTypes(`${owner}: update({ ... })`, changes, CHANGES);
}

/**
 * @param owner Names the item in messages: `tool "add"`.
 * @throws {RegistrationError} `ERR_REGISTRATION`
 * @see 2025-11-25 basic/index#icons, server/resources#annotations
 */
export function checkShown(owner: string, shown: Shown): void {
  checkTypes(owner, shown, LISTED);
  const { icons = [], annotations = {} } = shown;
  for (const icon of icons) {
    const src: unknown = (icon as Icon | null)?.src;
    if (typeof src !== 'string' || !ICON_SCHEMES.test(src))
      throw new RegistrationError(`${owner}: each icon needs a "src" that begins with "https://" or "data:"`);
  }
  const { audience = [], priority, lastModified } = annotations;
  checkType(`${owner}: "audience"`, audience, 'list');
  const stranger = audience.find((role) => role !== 'user' && role !== 'assistant');
  if (stranger !== undefined)
    throw new RegistrationError(`${owner}: "audience" may name "user" and "assistant", got ${JSON.stringify(stranger)}`);
  if (priority !== undefined && !(priority >= 0 && priority <= 1))
    throw new RegistrationError(`${owner}: "priority" must lie between 0 and 1, got ${String(priority)}`);
  if (lastModified !== undefined && !ISO_8601.test(lastModified))
    throw new RegistrationError(`${owner}: "lastModified" must be a date of ISO 8601, got ${JSON.stringify(lastModified)}`);
}

/** @throws {RegistrationError} `ERR_REGISTRATION`: not an absolute URI of RFC 3986. */
export function checkUri(owner: string, uri: string): void {
  if (URI.test(uri) && URL.canParse(uri)) return;
  const remedy = String(uri).includes('{') ? 'a template is new ResourceTemplate(...)' : 'percent-encode what is not allowed in one';
  throw new RegistrationError(`${owner}: "${uri}" is not an absolute URI of RFC 3986: ${remedy}`);
}
