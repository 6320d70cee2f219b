/** Puts what the validator found into short sentences with the place in the value. */

import type { OutputUnit } from '@cfworker/json-schema';
import type { SchemaIssue } from '../contracts/schema-adapter.ts';

/** The most issues that are told. */
const MAX_ISSUES = 20;
/** The most errors that are looked at for them: the address of each may be long. */
const MAX_ERRORS = 1000;

/** Keywords whose error only says that another one follows. */
const WRAPPERS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'items',
  'prefixItems',
  'additionalItems',
  'unevaluatedItems',
  'allOf',
  '$ref',
  'if',
  'dependentSchemas',
  'dependencies',
]);
/** Keywords whose own error says more than those of all their branches. */
const SUMMARIES: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'not', 'contains', 'propertyNames']);
/** Keywords for members that no other one names: their own error says more where they allow none, and less where they have a schema. */
const CATCH_ALLS: ReadonlySet<string> = new Set(['unevaluatedProperties', 'additionalProperties']);

/** How the error of an `enum` without values ends. */
const NOTHING = ' any of [].';

const NOUNS: Readonly<Record<string, string>> = { array: 'an array', integer: 'an integer', object: 'an object', null: 'null' };

/** The issues, in order, without those that only lead to others. */
export function phraseErrors(errors: readonly OutputUnit[], value: unknown): readonly SchemaIssue[] {
  const told: SchemaIssue[] = [];
  let summary: string | undefined;
  for (const [index, error] of errors.slice(0, MAX_ERRORS).entries()) {
    if (told.length >= MAX_ISSUES) break;
    if (summary !== undefined && error.keywordLocation.startsWith(summary)) continue;
    const isCatchAll = CATCH_ALLS.has(error.keyword);
    const isClosed = isCatchAll && isOfNothing(errors[index + 1]);
    summary = isClosed || SUMMARIES.has(error.keyword) ? error.keywordLocation : undefined;
    const isWrapper = (isCatchAll && !isClosed) || (WRAPPERS.has(error.keyword) && !isMissingDependency(error));
    if (!isWrapper) told.push(toIssue(error, value));
  }
  return told.length > 0 ? told : [{ message: 'does not fit its schema', path: [] }];
}

function toIssue(error: OutputUnit, value: unknown): SchemaIssue {
  const path = toPath(error.instanceLocation, value);
  if (error.keyword === 'required') return { message: 'is required', path: [...path, nameIn(error)] };
  if (CATCH_ALLS.has(error.keyword)) return { message: 'is not an allowed property', path: [...path, nameIn(error)] };
  return { message: phrase(error), path };
}

/** For errors that begin with the name of a member. Others hold whatever a schema does, in which the search may take very long. */
function nameIn({ error }: OutputUnit): string {
  return /[pP]roperty "([\s\S]*?)"(?:\.$| does not match)/.exec(error)?.[1] ?? '';
}

function phrase({ keyword, error }: OutputUnit): string {
  switch (keyword) {
    case 'type': {
      const names = /Expected "([\s\S]*)"\.$/.exec(error)?.[1]?.split('", "') ?? [];
      return `must be ${names.map((name) => NOUNS[name] ?? `a ${name}`).join(' or ')}`;
    }
    case 'anyOf':
      return 'must be one of the allowed forms';
    case 'oneOf':
      return 'must be exactly one of the allowed forms';
    case 'not':
      return 'is of a form that is not allowed';
    case 'enum':
    case 'const':
      if (error.endsWith(NOTHING)) return 'is not allowed';
      return `must be ${shorten(
        error
          .replace(/^Instance does not match any of /, 'one of ')
          .replace(/^Instance does not match /, '')
          .replace(/\.$/, ''),
      )}`;
    default:
      return shorten(
        error
          .replace(/^(?:Instance|String|Array) /, '')
          .replace(/^[-\d.e+]+ is/, 'is')
          .replace(/\.$/, ''),
      );
  }
}

/** Whether an error comes of a schema that allows nothing: `false`. */
function isOfNothing(error: OutputUnit | undefined): boolean {
  return error?.keyword === 'enum' && error.error.endsWith(NOTHING);
}

function isMissingDependency({ keyword, error }: OutputUnit): boolean {
  return keyword === 'dependencies' && error.includes(' but does not have ');
}

function shorten(text: string): string {
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
