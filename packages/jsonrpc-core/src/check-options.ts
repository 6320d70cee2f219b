/** Checks the options that a program gives: one that is misspelt, or a bound that is not a number, would silently have no effect. */

/** What an option must be: a number of at least so much, or a value of a kind. `any` is not looked at. */
export type OptionKind = number | 'boolean' | 'string' | 'function' | 'object' | 'array' | 'signal' | 'any';

/**
 * One option's rule: its kind, several of which one must hold, the functions that an object must have, or the table of a group of options. A group
 * holds no other group, and no option with the name `methods`.
 */
export type OptionRule<Value> =
  OptionKind | readonly OptionKind[] | (Value extends object ? OptionGroup<Value> | MethodsRule<Value> : never);

/** An object without them would fail when they are called, long after it was given. */
interface MethodsRule<Value> {
  readonly methods: readonly (keyof Value & string)[];
}

type OptionGroup<Options> = { readonly [Name in keyof Options]-?: OptionKind | readonly OptionKind[] };

/** The rule of every option that there is; the compiler sees to it that none is missing. */
export type OptionTable<Options> = { readonly [Name in keyof Options]-?: OptionRule<NonNullable<Options[Name]>> };

/**
 * Checks an options object against its table, once, where it enters. An option that is `undefined` counts as left out.
 *
 * @param owner Names the object in messages: `serveHttp options`.
 * @param OptionError The class of what is thrown.
 * @throws {OptionError} An unknown name (the message lists the known ones), or a value of the wrong kind. NaN is not a number here, `Infinity` is.
 */
export function checkOptions<Options extends object>(
  owner: string,
  options: Options | undefined,
  table: OptionTable<Options>,
  OptionError: new (message: string) => Error = TypeError,
): void {
  if (options === undefined) return;
  if (!isKind(options, 'object')) throw new OptionError(`${owner} must be an object, got ${show(options)}`);
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined && !Object.hasOwn(table, name)) {
      throw new OptionError(`${owner}: unknown option "${name}" (known: ${Object.keys(table).join(', ')})`);
    }
  }
  for (const [name, rule] of Object.entries(table) as [keyof Options & string, OptionRule<object>][]) {
    const value = options[name];
    if (value === undefined) continue;
    if (isMethods(rule)) {
      const missing = findMissing(value, rule.methods);
      if (missing !== undefined)
        throw new OptionError(`${owner}: "${name}" must be an object with a function "${missing}", got ${show(value)}`);
    } else if (isGroup(rule)) checkOptions(`${owner}, ${name}`, value as object, rule, OptionError);
    else {
      const kinds = typeof rule === 'object' ? rule : [rule];
      if (kinds.some((kind) => isKind(value, kind))) continue;
      throw new OptionError(`${owner}: "${name}" must be ${kinds.map(describe).join(' or ')}, got ${show(value)}`);
    }
  }
}

function isMethods(rule: OptionRule<object>): rule is MethodsRule<object> {
  return typeof rule === 'object' && 'methods' in rule;
}

function findMissing(value: unknown, methods: readonly string[]): string | undefined {
  if (!isKind(value, 'object')) return methods[0];
  return methods.find((name) => typeof (value as Readonly<Record<string, unknown>>)[name] !== 'function');
}

function isGroup(rule: OptionRule<object>): rule is OptionTable<object> {
  return typeof rule === 'object' && !Array.isArray(rule);
}

function isKind(value: unknown, kind: OptionKind): boolean {
  if (typeof kind === 'number') return typeof value === 'number' && value >= kind;
  if (kind === 'any') return true;
  if (kind === 'array') return Array.isArray(value);
  if (kind === 'signal') return isKind(value, 'object') && typeof (value as AbortSignal).addEventListener === 'function';
  return typeof value === kind && value !== null && !Array.isArray(value);
}

function describe(kind: OptionKind): string {
  if (typeof kind === 'number') return `a number, ${kind} or more`;
  if (kind === 'signal') return 'an AbortSignal';
  return kind === 'object' || kind === 'array' ? `an ${kind}` : `a ${kind}`;
}

/** Short values as they are written in a program. A longer text may be a secret. */
function show(value: unknown): string {
  if (typeof value === 'string') return value.length <= 20 ? JSON.stringify(value) : 'a long string';
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  return String(value);
}
