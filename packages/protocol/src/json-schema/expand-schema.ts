/** Follows the references of a schema and bounds how many subschemas meet in one place of a value. */

import { dereference } from '@cfworker/json-schema';
import { SchemaNotCheckableError } from '../errors.ts';
import type { BoundedSchema, SchemaCopy } from './bound-schema.ts';

/** Every schema by its absolute address. */
export type SchemaLookup = ReturnType<typeof dereference>;

/** A schema whose references are resolved. */
export interface ExpandedSchema {
  readonly lookup: SchemaLookup;
  /** How many `allOf` and the like lie within one another for one place of a value. References are followed and do not count. */
  readonly deepestInPlace: number;
}

/**
 * Resolves all references within the schema. Nothing is fetched.
 *
 * @throws {SchemaNotCheckableError} For a reference out of the schema, one that leads back to itself without going deeper into the
 * value, more subschemas in one place than the limit, and more references in a row than there is stack for.
 */
export function expandSchema(schema: BoundedSchema): ExpandedSchema {
  const lookup = resolve(schema);
  for (const [copy, pointer] of schema.all) {
    if (copy['$ref'] !== undefined && targetOf(copy, lookup) === undefined) {
      throw new SchemaNotCheckableError(
        `Reference "${String(copy['$ref'])}" leads out of the schema, and nothing is fetched: put its target under $defs`,
        `${pointer}/$ref`,
      );
    }
  }
  return { lookup, deepestInPlace: measure(schema, lookup) };
}

/** How many `allOf` and the like lie within one another for one place of a value. */
function measure(schema: BoundedSchema, lookup: SchemaLookup): number {
  const sizes = new Map<SchemaCopy, ExpandedSize>();
  let deepestInPlace = 0;
  for (const [copy, pointer] of schema.all) {
    const { count, depth } = sizeAt(copy, schema, lookup, sizes);
    deepestInPlace = Math.max(deepestInPlace, depth);
    if (count > schema.limits.maxExpandedSubschemas) {
      throw new SchemaNotCheckableError(
        `Schema has more than ${schema.limits.maxExpandedSubschemas} subschemas for one place of a value`,
        pointer,
      );
    }
  }
  return deepestInPlace;
}

function sizeAt(copy: SchemaCopy, schema: BoundedSchema, lookup: SchemaLookup, sizes: Map<SchemaCopy, ExpandedSize>): ExpandedSize {
  try {
    return expandedSize(copy, schema, lookup, sizes);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    const message = 'Schema has too many references that lead to one another in a row: refer to the last one';
    throw new SchemaNotCheckableError(message, schema.all.get(copy) ?? '', { cause });
  }
}

function resolve({ root }: BoundedSchema): SchemaLookup {
  try {
    return dereference(root as Parameters<typeof dereference>[0]);
  } catch (error) {
    throw new SchemaNotCheckableError(`Schema has an "$id", "$anchor" or "$ref" that cannot be read: ${(error as Error).message}`, '', {
      cause: error,
    });
  }
}

function targetOf(copy: SchemaCopy, lookup: SchemaLookup): SchemaCopy | boolean | undefined {
  return lookup[copy['__absolute_ref__'] as string] as SchemaCopy | boolean | undefined;
}

/** A schema with all that applies to the same place of a value. */
interface ExpandedSize {
  readonly count: number;
  readonly depth: number;
}

/** Marks a schema that is being measured. */
const UNDER_WAY: ExpandedSize = { count: 0, depth: 0 };

function expandedSize(copy: SchemaCopy, schema: BoundedSchema, lookup: SchemaLookup, sizes: Map<SchemaCopy, ExpandedSize>): ExpandedSize {
  const known = sizes.get(copy);
  if (known === UNDER_WAY)
    throw new SchemaNotCheckableError('Schema refers to itself without going deeper into the value', schema.all.get(copy) ?? '');
  if (known !== undefined) return known;
  sizes.set(copy, UNDER_WAY);
  let count = 1;
  let depth = 0;
  const target = copy['$ref'] === undefined ? undefined : targetOf(copy, lookup);
  for (const part of inPlace(copy, schema, lookup)) {
    if (typeof part !== 'object') continue;
    const inner = expandedSize(part, schema, lookup, sizes);
    count += inner.count;
    depth = Math.max(depth, inner.depth + (part === target ? 0 : 1));
  }
  const size = { count, depth };
  sizes.set(copy, size);
  return size;
}

function inPlace(copy: SchemaCopy, { dialect }: BoundedSchema, lookup: SchemaLookup): readonly (SchemaCopy | boolean)[] {
  const target = copy['$ref'] === undefined ? [] : [targetOf(copy, lookup) ?? true];
  if (dialect === '7' && target.length > 0) return target;
  const named = (...names: readonly string[]): readonly unknown[] => names.map((name) => copy[name] ?? []);
  const lists = named('allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else').flat();
  const maps = named('dependentSchemas', 'dependencies').flatMap((map) => Object.values(map as object));
  return [...target, ...(lists as readonly SchemaCopy[]), ...maps.filter((part) => !Array.isArray(part))];
}
