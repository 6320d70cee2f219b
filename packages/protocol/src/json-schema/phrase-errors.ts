/** Puts what the interpreter found into short sentences with the place in the value. */

import type { OutputUnit } from '@cfworker/json-schema';
import type { SchemaIssue } from '../contracts/schema-adapter.ts';

/** The most issues that are named. */
const MAX_ISSUES = 20;
/** The most errors that are looked at for them. */
const MAX_ERRORS = 1000;

const words = (list: string): ReadonlySet<string> => new Set(list.split(' '));
/** Keywords for members that no other keyword names. */
const CATCH_ALLS = /* @__PURE__ */ words('additionalProperties unevaluatedProperties');
/** Keywords whose error only says that another one follows. */
const WRAPPERS = /* @__PURE__ */ words(
  'properties patternProperties items prefixItems additionalItems unevaluatedItems allOf $ref if dependentSchemas additionalProperties unevaluatedProperties',
);
/** Keywords whose own error says more than those of all their branches, which follow it. */
const SUMMARIES: Readonly<Record<string, string>> = {
  anyOf: 'must be one of the allowed forms',
  oneOf: 'must be exactly one of the allowed forms',
  not: 'is of a form that is not allowed',
  contains: '',
  propertyNames: '',
};

const NOUNS: Readonly<Record<string, string>> = { array: 'an array', integer: 'an integer', object: 'an object', null: 'null' };

/** The issues, in order, without those that only lead to others. */
export function phraseErrors(errors: readonly OutputUnit[], value: unknown): readonly SchemaIssue[] {
  const issues: SchemaIssue[] = [];
  let summary: string | undefined;
  for (const [index, error] of errors.slice(0, MAX_ERRORS).entries()) {
    if (issues.length >= MAX_ISSUES) break;
    // The error of the schema `false` does not say where that stands: it belongs to the error before.
    if (summary !== undefined && (error.keyword === 'false' || error.keywordLocation.startsWith(summary))) continue;
    summary = error.keyword in SUMMARIES ? error.keywordLocation : undefined;
    if (WRAPPERS.has(error.keyword) || (error.keyword === 'dependencies' && !error.error.includes(' but does not have '))) continue;
    const path = toPath(error.instanceLocation, value);
    if (error.keyword === 'required') issues.push({ message: 'is required', path: [...path, /"([\s\S]*)"/.exec(error.error)?.[1] ?? ''] });
    else issues.push({ message: phrase(error, errors[index - 1]), path });
  }
  return issues.length > 0 ? issues : [{ message: 'does not fit its schema', path: [] }];
}

function phrase({ keyword, error }: OutputUnit, before: OutputUnit | undefined): string {
  switch (keyword) {
    case 'false':
      return before !== undefined && CATCH_ALLS.has(before.keyword) ? 'is not an allowed property' : 'is not allowed';
    case 'type': {
      const names = /Expected "([\s\S]*)"\.$/.exec(error)?.[1]?.split('", "') ?? [];
      return `must be ${names.map((name) => NOUNS[name] ?? `a ${name}`).join(' or ')}`;
    }
    case 'enum':
      // Written by `prepareSchema`.
      return JSON.parse(error.slice(error.indexOf('"'), -1)) as string;
    default:
      return SUMMARIES[keyword] || shorten(error);
  }
}

/** The interpreter's own sentence, without its subject. */
function shorten(error: string): string {
  const text = error
    .replace(/^(?:Instance|String|Array) /, '')
    .replace(/^[-\d.e+]+ is/, 'is')
    .replace(/\.$/, '');
  return text.length > 200 ? `${text.slice(0, 200)}...` : text;
}

/** `#/items/0/price` as keys, with numbers where the value has an array. */
function toPath(location: string, value: unknown): readonly (string | number)[] {
  let at = value;
  return location
    .split('/')
    .slice(1)
    .map((segment) => {
      const key = decodeURIComponent(segment.replaceAll('%23', '#')).replaceAll('~1', '/').replaceAll('~0', '~');
      const step = Array.isArray(at) ? Number(key) : key;
      at = (at as Readonly<Record<string, unknown>> | undefined)?.[key];
      return step;
    });
}
