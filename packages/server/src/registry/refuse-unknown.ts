/** Refuses options that there are not, of a registration or the server: one that is misspelt would silently do nothing. */

import type { PromptConfig, ResourceConfig, ToolConfig } from '../config.ts';
import { RegistrationError } from '../errors.ts';

const LISTED = ['title', 'description', 'icons', '_meta', 'visible'] as const;

export const TOOL_OPTIONS: readonly (keyof ToolConfig)[] = [...LISTED, 'inputSchema', 'outputSchema', 'annotations', 'scopes'];
export const PROMPT_OPTIONS: readonly (keyof PromptConfig)[] = [...LISTED, 'argsSchema'];
export const RESOURCE_OPTIONS: readonly (keyof ResourceConfig)[] = [...LISTED, 'mimeType', 'annotations', 'size', 'ttlMs', 'cacheScope'];

/** What the schema of arguments is called elsewhere. */
const SCHEMA_NAMES = /^(?:input|schema|arg|argument|param|parameter)s?(?:Schema)?$/i;

interface Allowed {
  /** What other parameters of the registration say, by the name that a config may repeat it under. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** The options of tools that installed extensions own; undefined where extensions can own none. */
  readonly extensionOptions?: readonly string[];
}

/**
 * @param owner Names whose options they are in messages: `tool "add"`.
 * @throws {RegistrationError} `ERR_REGISTRATION`, with the option that was probably meant.
 */
export function refuseUnknown(owner: string, given: object, own: readonly string[], allowed: Allowed = {}): void {
  const { parameters = {}, extensionOptions } = allowed;
  const known = [...own, ...(extensionOptions ?? [])];
  const isStranger = ([option, value]: [string, unknown]): boolean =>
    value !== undefined && !known.includes(option) && value !== parameters[option];
  const [stranger] = Object.entries(given).find(isStranger) ?? [];
  if (stranger === undefined) return;
  const hint = Object.hasOwn(parameters, stranger)
    ? `it is the ${stranger === 'name' ? 'first' : 'second'} parameter of the registration`
    : tellMeant(stranger, known);
  throw new RegistrationError(
    hint !== undefined || extensionOptions === undefined
      ? `${owner}: there is no option "${stranger}": ${hint ?? 'correct its name, or leave it out'}`
      : `${owner}: the option "${stranger}" belongs to no installed extension: correct its name, add the extension that owns it to the server's "extensions", or leave it out`,
  );
}

/** Asks for the one that was probably meant; undefined where none is like it. */
export function tellMeant(stranger: string, known: readonly string[]): string | undefined {
  const schema = SCHEMA_NAMES.test(stranger) ? known.find((option) => option === 'inputSchema' || option === 'argsSchema') : undefined;
  const most = stranger.length > 4 ? 2 : 1;
  const meant = schema ?? known.find((option) => isNear(stranger.toLowerCase(), option.toLowerCase(), most));
  return meant && `did you mean "${meant}"?`;
}

/** Whether a few letters put in, left out or changed make one word of another. */
function isNear(from: string, to: string, most: number): boolean {
  if (from === to) return true;
  if (most === 0) return false;
  let at = 0;
  while (from[at] === to[at]) at += 1;
  const [left, added] = [from.slice(at + 1), to.slice(at + 1)];
  return isNear(left, to.slice(at), most - 1) || isNear(from.slice(at), added, most - 1) || isNear(left, added, most - 1);
}
