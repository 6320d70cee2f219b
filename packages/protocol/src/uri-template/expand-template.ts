/** Expands a URI template with values. @see RFC 6570 section 3.2 */

import { type Operator, percentEncode, type TemplateExpression, type TemplatePart, type TemplateVariable } from './template-part.ts';

/** The value of a template variable: a single value, a list or a map. `undefined`, an empty list and an empty map count as no value. */
export type TemplateValue =
  string | number | boolean | readonly (string | number | boolean)[] | Readonly<Record<string, string | number | boolean>> | undefined;

/** Makes a URI from a parsed URI template and the values of its variables. */
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

/** Expands one template variable to its items: none for an empty value, several for an exploded list or map. */
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

/** Percent-encodes a variable's value. The operators `+` and `#` also keep reserved characters and existing percent-encodings. */
function encode({ reserved }: Operator, text: string): string {
  const keep = reserved ? /(?:%[0-9A-Fa-f]{2}|[\w.~:/?#[\]@!$&'()*+,;=-])+|[^]/gu : /[\w.~-]+|[^]/gu;
  return text.replace(keep, (run) =>
    /^[\w.~-]/.test(run) || (reserved && /^(?:%[0-9A-Fa-f]{2}|[:/?#[\]@!$&'()*+,;=])/.test(run)) ? run : encodeCharacter(run),
  );
}

function encodeCharacter(character: string): string {
  return percentEncode(character).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}
