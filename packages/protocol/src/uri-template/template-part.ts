/** A URI template taken apart: literals and expressions, with what RFC 6570 section 3.2.1 says of each operator. */

import { UriTemplateError } from '../errors.ts';

/** The longest template. */
export const MAX_TEMPLATE_LENGTH = 4096;
/** The most variables in one template. */
export const MAX_TEMPLATE_VARIABLES = 64;

/** One variable of an expression. */
export interface TemplateVariable {
  readonly name: string;
  /** Lists and maps are written item by item. */
  readonly explode: boolean;
  /** Only so many characters of the value are written. */
  readonly maxLength: number | undefined;
}

/** What stands in braces. */
export interface TemplateExpression {
  readonly operator: Operator;
  /** The characters that end its text when a URI is read. */
  readonly stops: string;
  readonly variables: readonly TemplateVariable[];
}

/** A literal, percent-encoded where it must be, or an expression. */
export type TemplatePart = string | TemplateExpression;

/** How an operator writes its variables. */
export interface Operator {
  /** Before the first variable that has a value. */
  readonly first: string;
  /** Between variables, and between exploded items. */
  readonly separator: string;
  /** Variables are written `name=value`. */
  readonly named: boolean;
  /** What a named variable with an empty value has after its name. */
  readonly ifEmpty: string;
  /** Reserved characters are written as they are. */
  readonly reserved: boolean;
  /** The characters that end a value when a URI is read; reading is wider than writing, so that unencoded URIs are found. */
  readonly stops: string;
  /** All variables may be absent. */
  readonly optional: boolean;
}

const SIMPLE: Operator = { first: '', separator: ',', named: false, ifEmpty: '', reserved: false, stops: '/?#', optional: false };

/** RFC 6570, section 2.2. */
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

/** Takes a template apart. @throws {UriTemplateError} */
export function parseTemplate(template: string): readonly TemplatePart[] {
  if (template.length > MAX_TEMPLATE_LENGTH) throw new UriTemplateError(`URI template is longer than ${MAX_TEMPLATE_LENGTH} characters`);
  const parts: TemplatePart[] = [];
  let variables = 0;
  let at = 0;
  while (at < template.length) {
    const open = template.indexOf('{', at);
    const literal = template.slice(at, open === -1 ? undefined : open);
    if (literal.includes('}')) throw new UriTemplateError(`URI template "${template}": "}" without "{"`);
    if (literal !== '') parts.push(encodeLiteral(literal));
    if (open === -1) break;
    const close = template.indexOf('}', open);
    if (close === -1) throw new UriTemplateError(`URI template "${template}": "{" without "}"`);
    const expression = parseExpression(template.slice(open + 1, close), template);
    variables += expression.variables.length;
    parts.push(expression);
    at = close + 1;
  }
  if (variables > MAX_TEMPLATE_VARIABLES)
    throw new UriTemplateError(`URI template has ${variables} variables: at most ${MAX_TEMPLATE_VARIABLES} are allowed`);
  return parts;
}

/** Encodes what may not stand in a URI; what is encoded already stays. */
export function encodeLiteral(text: string): string {
  return text.replace(/[^\x21\x23-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]+/g, (run) => percentEncode(run));
}

function parseExpression(body: string, template: string): TemplateExpression {
  const operator = operatorOf(body.charAt(0));
  const list = operator === undefined ? body : body.slice(1);
  const variables = list.split(',').map((spec): TemplateVariable => {
    const [, name, maxLength, star] = VARIABLE.exec(spec) ?? [];
    if (name === undefined) throw new UriTemplateError(`URI template "${template}": "{${body}}" is not an expression of RFC 6570`);
    return { name, explode: star !== undefined, maxLength: maxLength === undefined ? undefined : Number(maxLength) };
  });
  const { separator, stops } = operator ?? SIMPLE;
  const isOneValue = variables.length === 1 && variables[0]?.explode === false;
  return { operator: operator ?? SIMPLE, variables, stops: isOneValue ? stops : stops.replace(separator, '') };
}

/** Percent-encodes text as UTF-8. Half a surrogate pair, which UTF-8 cannot say, becomes U+FFFD instead of an exception. */
export function percentEncode(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\uFFFD'));
}
