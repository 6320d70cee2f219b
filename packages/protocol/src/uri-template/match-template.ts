/**
 * Matches a URI against a URI template and reads the values of the variables.
 *
 * Fills a table that tells which rest of the template matches which rest of the URI, beginning at the end of both. There is no
 * backtracking: time and memory grow with the number of template parts times the length of the URI.
 */

import { percentEncode, type TemplateExpression, type TemplatePart, type TemplateVariable } from './template-part.ts';

/** The maximum length of a URI that a template is matched against, in characters. A longer URI does not match. */
export const MAX_URI_LENGTH = 8192;

/** The percent-decoded values that a URI has, by variable name. The object has no prototype. Exploded variables are lists. */
export type TemplateMatch = Readonly<Record<string, string | readonly string[]>>;

/** Returns the variables' values in a URI; undefined if it does not match. If several matches are possible, earlier variables take most. */
export function matchTemplate(parts: readonly TemplatePart[], uri: string): TemplateMatch | undefined {
  if (uri.length > MAX_URI_LENGTH) return undefined;
  const text = uri.replace(/[^\x00-\x7f]+/g, (run) => percentEncode(run));
  if (!hasEnds(parts, text)) return undefined;
  const fits = fitTable(parts, text);
  if (fits[0]?.[0] !== 1) return undefined;
  const values = Object.create(null) as Values;
  let at = 0;
  for (const [index, part] of parts.entries()) {
    if (typeof part === 'string') {
      at += part.length;
      continue;
    }
    const end = longestEnd(part, text, at, fits[index + 1] as Uint8Array);
    if (!readExpression(part, text.slice(at, end), values)) return undefined;
    at = end;
  }
  return values;
}

type Values = Record<string, string | readonly string[]>;

/** Checks only the literal beginning and end: a cheap test that most URIs that do not match fail. */
function hasEnds(parts: readonly TemplatePart[], uri: string): boolean {
  const [first] = parts;
  const last = parts.at(-1);
  return (typeof first !== 'string' || uri.startsWith(first)) && (typeof last !== 'string' || uri.endsWith(last));
}

/** Creates the table: `table[p][i]` is 1 if the template's parts from `p` on match the URI from character `i` on. */
function fitTable(parts: readonly TemplatePart[], uri: string): readonly Uint8Array[] {
  const table: Uint8Array[] = [new Uint8Array(uri.length + 1)];
  (table[0] as Uint8Array)[uri.length] = 1;
  for (const part of parts.toReversed()) {
    const rest = table.at(-1) as Uint8Array;
    table.push(typeof part === 'string' ? fitLiteral(part, uri, rest) : fitExpression(part, uri, rest));
  }
  return table.reverse();
}

function fitLiteral(literal: string, uri: string, rest: Uint8Array): Uint8Array {
  const row = new Uint8Array(uri.length + 1);
  for (let at = uri.indexOf(literal); at !== -1; at = uri.indexOf(literal, at + 1)) row[at] = rest[at + literal.length] as number;
  return row;
}

function fitExpression({ operator, stops }: TemplateExpression, uri: string, rest: Uint8Array): Uint8Array {
  const row = new Uint8Array(uri.length + 1);
  /** 1 if a non-empty value can begin at the next character such that the rest of the URI matches, else 0. */
  let next = 0;
  for (let at = uri.length; at >= 0; at -= 1) {
    const canGoOn = at < uri.length && !stops.includes(uri.charAt(at));
    const here = canGoOn ? next | (rest[at + 1] as number) : 0;
    if (operator.first === '') row[at] = here;
    else if (uri.charAt(at) === operator.first) row[at] = next;
    if (operator.optional && rest[at] === 1) row[at] = 1;
    next = here;
  }
  return row;
}

/** Returns the end of the longest value after which the rest of the URI matches; `at` if an optional expression is absent. */
function longestEnd({ operator, stops }: TemplateExpression, uri: string, at: number, rest: Uint8Array): number {
  let longest = at;
  if (!uri.startsWith(operator.first, at)) return longest;
  for (let end = at + operator.first.length; end < uri.length && !stops.includes(uri.charAt(end)); end += 1) {
    if (rest[end + 1] === 1) longest = end + 1;
  }
  return longest;
}

/** Reads the variables of one template expression into `values`. @returns false if the text does not match the expression. */
function readExpression({ operator, variables }: TemplateExpression, text: string, values: Values): boolean {
  if (text === '') return true;
  const body = text.slice(operator.first.length);
  if (operator.named) return readNamed(variables, body.split(operator.separator), values);
  const [only] = variables;
  if (variables.length === 1 && only?.explode === false) return put(values, only, body);
  const items = body.split(operator.separator);
  return (
    variables.every((variable, index) => {
      if (index === variables.length - 1 && variable.explode) return items.length <= index || put(values, variable, ...items.slice(index));
      const item = items[index];
      return item === undefined || put(values, variable, item);
    }) &&
    (items.length <= variables.length || variables.at(-1)?.explode === true)
  );
}

function readNamed(variables: readonly TemplateVariable[], pairs: readonly string[], values: Values): boolean {
  const lists = new Map<TemplateVariable, string[]>();
  for (const pair of pairs) {
    const equals = pair.indexOf('=');
    const name = equals === -1 ? pair : pair.slice(0, equals);
    const variable = variables.find((candidate) => candidate.name === name);
    if (variable === undefined) return false;
    const list = lists.get(variable) ?? [];
    lists.set(variable, list);
    list.push(equals === -1 ? '' : pair.slice(equals + 1));
  }
  return [...lists].every(([variable, items]) => put(values, variable, ...items));
}

/** Percent-decodes a variable's value and stores it. @returns false if it is invalid or differs from an earlier value of the variable. */
function put(values: Values, { name, explode, maxLength }: TemplateVariable, ...items: readonly string[]): boolean {
  const decoded = items.map(decode);
  if (decoded.includes(undefined) || (!explode && items.length > 1)) return false;
  const texts = decoded as readonly string[];
  if (maxLength !== undefined && [...(texts[0] ?? '')].length > maxLength) return false;
  const value = explode ? texts : (texts[0] ?? '');
  if (name in values && JSON.stringify(values[name]) !== JSON.stringify(value)) return false;
  values[name] = value;
  return true;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
