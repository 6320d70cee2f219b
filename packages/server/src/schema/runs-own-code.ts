/** Looks into a zod schema for functions of the program's, which may be async. By structure: no library is imported. */

interface ZodNode {
  readonly _zod: { readonly def: Readonly<Record<string, unknown>> };
}

/** Kinds that run a function, or that cannot be seen through. */
const KINDS: ReadonlySet<unknown> = new Set(['custom', 'transform', 'lazy', 'promise', 'function']);
/** What is no schema, or is made by a getter that runs a function. */
const PASSED_OVER: ReadonlySet<string> = new Set(['defaultValue', 'catchValue', 'error', 'pattern', 'values', 'entries']);

/** Whether a zod 4 schema has refinements, transformations or the like anywhere; false for schemas of other libraries. */
export function runsOwnCode(schema: unknown, seen: Set<unknown> = new Set()): boolean {
  if (typeof schema !== 'object' || schema === null || seen.has(schema)) return false;
  seen.add(schema);
  const { def } = (schema as Partial<ZodNode>)._zod ?? {};
  if (def === undefined) return false;
  if (KINDS.has(def['type']) || def['check'] === 'custom' || typeof def['transform'] === 'function') return true;
  return Object.keys(def).some((key) => !PASSED_OVER.has(key) && partsOf(def[key]).some((part) => runsOwnCode(part, seen)));
}

/** A schema or check by itself, in a list, or by name. */
function partsOf(member: unknown): readonly unknown[] {
  if (typeof member !== 'object' || member === null) return [];
  return '_zod' in member ? [member] : Object.values(member);
}
