/** Refuses options that there are not, of a registration or the server: one that is misspelt would silently do nothing. */

import type { PromptConfig, ResourceConfig, ToolConfig } from '../config.ts';
import { RegistrationError } from '../errors.ts';

const LISTED = ['title', 'description', 'icons', '_meta', 'visible'] as const;

export const TOOL_OPTIONS: readonly (keyof ToolConfig)[] = [...LISTED, 'inputSchema', 'outputSchema', 'annotations', 'scopes'];
export const PROMPT_OPTIONS: readonly (keyof PromptConfig)[] = [...LISTED, 'argsSchema'];
export const RESOURCE_OPTIONS: readonly (keyof ResourceConfig)[] = [...LISTED, 'mimeType', 'annotations', 'size', 'ttlMs', 'cacheScope'];

/** What the schema of arguments is called elsewhere. */
const SCHEMA_NAMES = /^(?:(?:input|schema)s?|(?:(?:arg|argument|param|parameter)s?|input)(?:Schema)?)$/i;

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
  if (Object.hasOwn(parameters, stranger)) {
    const place = stranger === 'name' ? 'first' : 'second';
    throw new RegistrationError(`${owner}: there is no option "${stranger}": it is the ${place} parameter of the registration`);
  }
  const meant = findMeant(stranger, known);
  if (meant !== undefined) throw new RegistrationError(`${owner}: there is no option "${stranger}": did you mean "${meant}"?`);
  throw new RegistrationError(
    extensionOptions === undefined
      ? `${owner}: there is no option "${stranger}": correct its name, or leave it out`
      : `${owner}: the option "${stranger}" belongs to no installed extension: correct its name, add the extension that owns it to the server's "extensions", or leave it out`,
  );
}

function findMeant(stranger: string, known: readonly string[]): string | undefined {
  const schema = SCHEMA_NAMES.test(stranger) ? known.find((option) => option === 'inputSchema' || option === 'argsSchema') : undefined;
  const most = stranger.length > 4 ? 2 : 1;
  return schema ?? known.find((option) => countEdits(stranger.toLowerCase(), option.toLowerCase()) <= most);
}

/** How many letters must be put in, left out or changed to make one word of another. */
function countEdits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, edits) => edits);
  for (const [i, letter] of [...from].entries()) {
    const next = [i + 1];
    for (const [j, above] of row.slice(1).entries()) {
      const changed = (row[j] ?? 0) + (letter === to[j] ? 0 : 1);
      next.push(Math.min(above + 1, (next[j] ?? 0) + 1, changed));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
