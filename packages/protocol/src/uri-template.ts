/** URI templates (RFC 6570): expansion up to level 4, and matching of URIs as MCP's resource templates need it. */

import { expandTemplate, type TemplateValue } from './uri-template/expand-template.ts';
import { matchTemplate, type TemplateMatch } from './uri-template/match-template.ts';
import { parseTemplate, type TemplatePart } from './uri-template/template-part.ts';

/** A parsed URI template (RFC 6570), which makes URIs from values and reads values from URIs. */
export class UriTemplate {
  readonly #parts: readonly TemplatePart[];
  /** The URI template as a string. */
  readonly template: string;
  /** The names of the template's variables, in order of appearance, without duplicates. */
  readonly variableNames: readonly string[];

  private constructor(template: string) {
    this.template = template;
    this.#parts = parseTemplate(template);
    this.variableNames = [
      ...new Set(this.#parts.flatMap((part) => (typeof part === 'string' ? [] : part.variables.map(({ name }) => name)))),
    ];
  }

  /**
   * Parses a URI template.
   *
   * @throws {UriTemplateError} `ERR_URI_TEMPLATE`: the text is not an RFC 6570 template, is longer than 4,096 characters, or has more than
   * 64 variables.
   */
  static parse(template: string): UriTemplate {
    return new UriTemplate(template);
  }

  /** Makes a URI from the template and values. A variable without a value is left out, as RFC 6570 says. */
  expand(values: Readonly<Record<string, TemplateValue>>): string {
    return expandTemplate(this.#parts, values);
  }

  /**
   * Reads the values of the template's variables from a URI, in time linear in the URI's length.
   *
   * Values are percent-decoded and not empty. Only in `;`, `?` and `&` expressions may variables be empty, absent or in another order. A
   * plain variable ends at `/`, `?` or `#`. An exploded variable (`{/path*}`) is a list. If several matches are possible, earlier variables
   * match as much as they can. A decoded value can contain `/` and `..`: check it before you use it in a file path.
   *
   * @returns Values by name, in an object without prototype; undefined if the URI does not match or is longer than 8,192 characters.
   */
  match(uri: string): TemplateMatch | undefined {
    return matchTemplate(this.#parts, uri);
  }

  /** Returns the URI template as a string. */
  toString(): string {
    return this.template;
  }
}
