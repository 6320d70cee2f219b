/** Writes a URI from a template and values. @see RFC 6570 section 3.2 */

import { type Operator, percentEncode, type TemplateExpression, type TemplatePart, type TemplateVariable } from './template-part.ts';

/** A value, a list of them, or a map. `undefined`, an empty list and an empty map count as no value. */
export type TemplateValue =
  string | number | boolean | readonly (string | number | boolean)[] | Readonly<Record<string, string | number | boolean>> | undefined;

/** Writes the URI. */
export function expandTemplate(parts: readonly TemplatePart[], values: Readonly<Record<string, TemplateValue>>): string {
  return parts.map((part) => (typeof part === 'string' ? part : expandExpression(part, values))).join('');
}

function expandExpression({ operator, variables }: TemplateExpression, values: Readonly<Record<string, TemplateValue>>): string {
  const written = variables.flatMap((variable) => {
    const value = Object.hasOwn(values, variable.name) ? values[variable.name] : undefined;
    return value === undefined ? [] : expandVariable(operator, variable, value);
  });
  return written.length === 0 ? '' : operator.first + written.join(operator.separator);
}

/** Nothing, or one item; several where a list or map is exploded. */
function expandVariable(operator: Operator, variable: TemplateVariable, value: NonNullable<TemplateValue>): readonly string[] {
  if (typeof value !== 'object') return [named(operator, variable.name, encode(operator, cut(String(value), variable.maxLength)))];
  const isList = Array.isArray(value);
  const pairs = Object.entries(value).map(([key, item]) => [encode(operator, key), encode(operator, String(item))] as const);
  if (pairs.length === 0) return [];
  if (!variable.explode) {
    const joined = pairs.map(([key, item]) => (isList ? item : `${key},${item}`)).join(',');
    return [named(operator, variable.name, joined)];
  }
  if (isList) return pairs.map(([, item]) => named(operator, variable.name, item));
  return pairs.map(([key, item]) => (item === '' && operator.named ? key + operator.ifEmpty : `${key}=${item}`));
}

function named(operator: Operator, name: string, text: string): string {
  if (!operator.named) return text;
  return text === '' ? name + operator.ifEmpty : `${name}=${text}`;
}

function cut(text: string, maxLength: number | undefined): string {
  return maxLength === undefined ? text : [...text].slice(0, maxLength).join('');
}

/** Unreserved characters stay; with a reserving operator so do reserved ones and what is encoded already. */
function encode({ reserved }: Operator, text: string): string {
  const keep = reserved ? /(?:%[0-9A-Fa-f]{2}|[\w.~:/?#[\]@!$&'()*+,;=-])+|[^]/gu : /[\w.~-]+|[^]/gu;
  return text.replace(keep, (run) =>
    /^[\w.~-]/.test(run) || (reserved && /^(?:%[0-9A-Fa-f]{2}|[:/?#[\]@!$&'()*+,;=])/.test(run)) ? run : encodeCharacter(run),
  );
}

function encodeCharacter(character: string): string {
  return percentEncode(character).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}
