/** `/shared/uriTemplate`: v1's `UriTemplate` over ours. */

import { UriTemplate as Template } from '@mortise/protocol';

/** Values of a template's variables, by name. */
export type Variables = Record<string, string | string[]>;

/** A URI template (RFC 6570). Matching decodes percent escapes, which v1 left to the program. */
export class UriTemplate {
  readonly #template: Template;

  /** @throws {Error} The text is not a template, or is longer than 4,096 characters. */
  constructor(template: string) {
    this.#template = Template.parse(template);
  }

  /** Tells whether a text has a template expression. */
  static isTemplate(text: string): boolean {
    return /\{[^}\s]+\}/u.test(text);
  }

  get variableNames(): string[] {
    return [...this.#template.variableNames];
  }

  /** Makes a URI. A variable without a value is left out. */
  expand(variables: Variables): string {
    return this.#template.expand(variables);
  }

  /** Reads the variables of a URI; null if it does not match. */
  match(uri: string): Variables | null {
    const values = this.#template.match(uri);
    return values ? Object.fromEntries(Object.entries(values).map(([name, value]) => [name, toVariable(value)])) : null;
  }

  toString(): string {
    return this.#template.template;
  }
}

/** v1 returns an array only for a value with a comma. */
function toVariable(value: string | readonly string[]): string | string[] {
  if (typeof value === 'string') return value;
  const parts = value.flatMap((each) => each.split(','));
  return parts.length === 1 ? (parts[0] ?? '') : parts;
}
