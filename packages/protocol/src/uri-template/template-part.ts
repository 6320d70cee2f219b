/** Parses a URI template into literals and expressions. @see RFC 6570 section 3.2.1 */

import { UriTemplateError } from '../errors.ts';

/** The maximum length of a URI template, in characters. */
export const MAX_TEMPLATE_LENGTH = 4096;
/** The maximum number of variables in one URI template. */
export const MAX_TEMPLATE_VARIABLES = 64;

/** One variable of an expression in a URI template. */
export interface TemplateVariable {
  readonly name: string;
  /** Whether the variable's list or map is expanded item by item (`*`). */
  readonly explode: boolean;
  /** The prefix length (`:n`): only so many characters of the value are used. Undefined for the whole value. */
  readonly maxLength: number | undefined;
}

/** An expression: a part of a URI template in braces, such as `{?q,page}`. */
export interface TemplateExpression {
  readonly operator: Operator;
  /** The characters at which the expression's text ends when a URI is matched. */
  readonly stops: string;
  readonly variables: readonly TemplateVariable[];
}

/** A part of a URI template: a literal, already percent-encoded, or an expression. */
export type TemplatePart = string | TemplateExpression;

/** How an operator of RFC 6570 (such as `?` in `{?q}`) expands and matches its variables. */
export interface Operator {
  /** The text before the first variable that has a value, such as `?`. */
  readonly first: string;
  /** The text between variables, and between exploded items, such as `&`. */
  readonly separator: string;
  /** Whether each variable is written as `name=value`. */
  readonly named: boolean;
  /** The text after the name of a variable with an empty value. Used only if `named` is true. */
  readonly ifEmpty: string;
  /** Whether reserved characters, such as `/`, are not encoded. */
  readonly reserved: boolean;
  /** The characters at which a value ends when a URI is matched. Matching also accepts characters that expansion would encode. */
  readonly stops: string;
  /** Whether all variables may be absent from a URI that matches. */
  readonly optional: boolean;
}

const SIMPLE: Operator = { first: '', separator: ',', named: false, ifEmpty: '', reserved: false, stops: '/?#', optional: false };

/** Returns the operator that the first character of an expression stands for; undefined if none. @see RFC 6570 section 2.2 */
function operatorOf(character: string): Operator | undefined {
  switch (character) {
    case '+':
      return { ...SIMPLE, reserved: true, stops: '' };
    case '#':
      return { ...SIMPLE, first: '#', reserved: true, stops: '' };
    case '.':
    case '/':
      return { ...SIMPLE, first: character, separator: character };
    case ';':
      return { ...SIMPLE, first: ';', separator: ';', named: true, optional: true };
    case '?':
    case '&':
      return { ...SIMPLE, first: character, separator: '&', named: true, ifEmpty: '=', stops: '#', optional: true };
    default:
      return undefined;
  }
}

const VARIABLE = /^((?:\w|%[0-9A-Fa-f]{2})(?:[\w.]|%[0-9A-Fa-f]{2})*)(?::([1-9]\d{0,3})|(\*))?$/;

/** Parses a URI template into its parts. @throws {UriTemplateError} The template is invalid or exceeds a limit. */
export function parseTemplate(template: string): readonly TemplatePart[] {
  if (template.length > MAX_TEMPLATE_LENGTH)
    throw new UriTemplateError(`URI template is longer than the maximum of ${MAX_TEMPLATE_LENGTH} characters`);
  const parts: TemplatePart[] = [];
  let variables = 0;
  let at = 0;
  while (at < template.length) {
    const open = template.indexOf('{', at);
    const literal = template.slice(at, open === -1 ? undefined : open);
    if (literal.includes('}')) throw new UriTemplateError(`URI template "${template}" has a "}" without a "{" before it`);
    if (literal !== '') parts.push(encodeLiteral(literal));
    if (open === -1) break;
    const close = template.indexOf('}', open);
    if (close === -1) throw new UriTemplateError(`URI template "${template}" has a "{" without a "}" after it`);
    const expression = parseExpression(template.slice(open + 1, close), template);
    variables += expression.variables.length;
    parts.push(expression);
    at = close + 1;
  }
  if (variables > MAX_TEMPLATE_VARIABLES)
    throw new UriTemplateError(`URI template has ${variables} variables: at most ${MAX_TEMPLATE_VARIABLES} are allowed`);
  return parts;
}

/** Percent-encodes the characters that URIs do not allow. Keeps existing percent-encodings. */
export function encodeLiteral(text: string): string {
  return text.replace(/[^\x21\x23-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]+/g, (run) => percentEncode(run));
}

function parseExpression(body: string, template: string): TemplateExpression {
  const operator = operatorOf(body.charAt(0));
  const list = operator === undefined ? body : body.slice(1);
  const variables = list.split(',').map((spec): TemplateVariable => {
    const [, name, maxLength, star] = VARIABLE.exec(spec) ?? [];
    if (name === undefined)
      throw new UriTemplateError(`URI template "${template}": "{${body}}" is not an RFC 6570 expression such as "{name}"`);
    return { name, explode: star !== undefined, maxLength: maxLength === undefined ? undefined : Number(maxLength) };
  });
  const { separator, stops } = operator ?? SIMPLE;
  const isOneValue = variables.length === 1 && variables[0]?.explode === false;
  return { operator: operator ?? SIMPLE, variables, stops: isOneValue ? stops : stops.replace(separator, '') };
}

/** Percent-encodes text as UTF-8. A lone surrogate, at which `encodeURIComponent` would throw, becomes U+FFFD. */
export function percentEncode(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\uFFFD'));
}
