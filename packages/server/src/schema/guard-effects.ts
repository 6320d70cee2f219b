/**
 * Makes zod 3's schemas safe to check with refinements and transforms of the program's that throw or reject.
 *
 * zod 3 awaits the fields of an object one after another: what the others reject with meanwhile is nobody's, and would end the
 * process. So here each effect is wrapped. What it throws or rejects with becomes an issue, and is thrown when all is over.
 */

import { isThenable } from '../thenable.ts';

/** A schema of zod 3, as far as it is looked into. */
interface Schema {
  readonly _def: Definition;
}

interface Definition {
  readonly typeName?: unknown;
  readonly effect?: Effect;
  readonly [member: string]: unknown;
}

/** What a check of zod 3 tells its effects. */
interface EffectContext {
  addIssue(issue: { readonly code: 'custom'; readonly fatal: true; readonly message: string; readonly params: object }): void;
}

type Run = (value: unknown, context: EffectContext) => unknown;

interface Effect {
  readonly type: string;
  readonly refinement?: Run;
  readonly transform?: Run;
}

/** What each schema was found to be guarded by: a copy, or itself. Weak, for the getter of a lazy schema may make a new one for each value that is checked. */
type Known = WeakMap<Schema, Schema>;

/** Under what an issue holds that an effect failed, and with what. */
const FAILURE: unique symbol = Symbol('failure');

interface Failed {
  readonly [FAILURE]?: { readonly error: unknown };
}

/** An issue of zod 3, as far as failures are found in it. */
export interface EffectIssue {
  readonly params?: Failed;
  readonly unionErrors?: readonly { readonly issues: readonly EffectIssue[] }[];
}

/** Gives a copy of a schema whose effects are wrapped, or undefined where it has none. The schema stays as it is. */
export function guardEffects(schema: object): object | undefined {
  const guarded = guard(schema as Schema, new WeakMap());
  return guarded === schema ? undefined : guarded;
}

/** Throws what an effect failed with, if one did. */
export function throwFailure(issues: readonly EffectIssue[]): void {
  for (const { params, unionErrors } of issues) {
    const failure = params?.[FAILURE];
    if (failure !== undefined) throw failure.error;
    for (const each of unionErrors ?? []) throwFailure(each.issues);
  }
}

/** Only what leads to an effect is copied: some kinds cannot be. What stands in many places is looked at once. */
function guard(schema: Schema, known: Known): Schema {
  const before = known.get(schema);
  if (before !== undefined) return before;
  const definition = schema._def;
  const changes = Object.entries(definition)
    .map(([name, member]) => [name, guardMember(name, member, definition, known)] as const)
    .filter(([name, member]) => member !== definition[name]);
  const guarded = changes.length === 0 ? schema : copyWith(schema, Object.fromEntries(changes));
  known.set(schema, guarded);
  return guarded;
}

function copyWith(schema: Schema, changes: Readonly<Record<string, unknown>>): Schema {
  return Object.create(classOf(schema), {
    _def: { value: { ...schema._def, ...changes } },
    // Where objects keep their fields once these are known.
    _cached: { value: null, writable: true },
  }) as Schema;
}

/** Past the schemas that this one is an heir of, as what `completable` gives is: their methods are bound to them. */
function classOf(schema: object): object {
  const parent = Object.getPrototypeOf(schema) as object;
  return Object.hasOwn(parent, '_def') ? classOf(parent) : parent;
}

function guardMember(name: string, member: unknown, { typeName }: Definition, known: Known): unknown {
  if (name === 'effect') return guardEffect(member as Effect);
  if (name === 'shape' && typeName === 'ZodObject') return guardShape(member as () => object, known);
  // What a lazy schema is may be the schema that it stands in, so that it is looked at when it is needed.
  if (name === 'getter' && typeName === 'ZodLazy') return () => guard((member as () => Schema)(), known);
  return guardParts(member, known);
}

function guardShape(shape: () => object, known: Known): () => object {
  const fields = shape();
  const guarded = Object.entries(fields).map(([name, field]) => [name, guardParts(field, known)] as const);
  const isSame = guarded.every(([name, field]) => field === (fields as Readonly<Record<string, unknown>>)[name]);
  return isSame ? shape : () => Object.fromEntries(guarded);
}

/** A schema, a list of them, or schemas by name. Anything else stays. */
function guardParts(part: unknown, known: Known): unknown {
  if (Array.isArray(part)) {
    const guarded = part.map((each: unknown) => guardParts(each, known));
    return guarded.some((each, index) => each !== part[index]) ? guarded : part;
  }
  if (part instanceof Map) {
    const guarded = [...part].map(([key, each]) => [key, guardParts(each, known)] as const);
    return guarded.some(([key, each]) => each !== part.get(key)) ? new Map(guarded) : part;
  }
  return typeof part === 'object' && part !== null && '_def' in part ? guard(part as Schema, known) : part;
}

function guardEffect(effect: Effect): Effect {
  const { refinement, transform } = effect;
  return { ...effect, ...(refinement && { refinement: guardRun(refinement) }), ...(transform && { transform: guardRun(transform) }) };
}

function guardRun(run: Run): Run {
  return (value, context) => {
    const fail = (error: unknown): void =>
      context.addIssue({ code: 'custom', fatal: true, message: 'failed', params: { [FAILURE]: { error } } });
    try {
      const outcome = run(value, context);
      return isThenable(outcome) ? Promise.resolve(outcome).catch(fail) : outcome;
    } catch (error) {
      fail(error);
      return undefined;
    }
  };
}
