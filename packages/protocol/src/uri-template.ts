/** URI templates: RFC 6570 to level 4 for writing, and reading back what MCP's resource templates need. */

import { expandTemplate, type TemplateValue } from './uri-template/expand-template.ts';
import { matchTemplate, type TemplateMatch } from './uri-template/match-template.ts';
import { parseTemplate, type TemplatePart } from './uri-template/template-part.ts';

/** A template that has been read. */
export class UriTemplate {
  readonly #parts: readonly TemplatePart[];
  /** The template as it was given. */
  readonly template: string;
  /** The names of the variables, in order, each once. */
  readonly variableNames: readonly string[];

  private constructor(template: string) {
    this.template = template;
    this.#parts = parseTemplate(template);
    this.variableNames = [
      ...new Set(this.#parts.flatMap((part) => (typeof part === 'string' ? [] : part.variables.map(({ name }) => name)))),
    ];
  }

  /**
   * Reads a template.
   *
   * @throws {UriTemplateError} `ERR_URI_TEMPLATE`: not a template of RFC 6570, longer than 4,096 characters, or more than 64 variables.
   */
  static parse(template: string): UriTemplate {
    return new UriTemplate(template);
  }

  /** Writes a URI. A variable without a value is left out, as RFC 6570 says. */
  expand(values: Readonly<Record<string, TemplateValue>>): string {
    return expandTemplate(this.#parts, values);
  }

  /**
   * Reads the variables' values from a URI, in time linear in its length.
   *
   * Values are percent-decoded, and have at least one character, but for `;`, `?` and `&` expressions, whose variables may come in any
   * order or be absent. A plain variable ends at `/`, `?` or `#`. An exploded variable (`{/path*}`) is a list. Where a URI can be read in
   * several ways, earlier variables take the most. Decoding can bring `/` and `..` into a value: check it before it becomes a path.
   *
   * @returns Values by name, without a prototype; undefined where the URI is not one of the template's or longer than 8,192 characters.
   */
  match(uri: string): TemplateMatch | undefined {
    return matchTemplate(this.#parts, uri);
  }

  /** The template as it was given. */
  toString(): string {
    return this.template;
  }
}
