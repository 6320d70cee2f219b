/** Checks the options that a program passes, because a misspelt name or a limit that is not a number would silently have no effect. */

/** The kind of value that an option accepts: a number of at least this minimum, or a value of this type. `any` is not checked. */
export type OptionKind = number | 'boolean' | 'string' | 'function' | 'object' | 'array' | 'signal' | 'any';

/**
 * The rule for one option: a kind, a list of accepted kinds, the functions that an object must have, or a table for a group of options.
 * Groups do not nest and have no option called `methods`.
 */
export type OptionRule<Value> =
  OptionKind | readonly OptionKind[] | (Value extends object ? OptionGroup<Value> | MethodsRule<Value> : never);

/** The functions that an object given as an option must have. Without this check the object would fail later, when they are called. */
interface MethodsRule<Value> {
  readonly methods: readonly (keyof Value & string)[];
}

type OptionGroup<Options> = { readonly [Name in keyof Options]-?: OptionKind | readonly OptionKind[] };

/** One rule for each option. The compiler reports an option without a rule. */
export type OptionTable<Options> = { readonly [Name in keyof Options]-?: OptionRule<NonNullable<Options[Name]>> };

/**
 * Checks an options object against its table. An option that is `undefined` counts as left out.
 *
 * @param owner Names the object in messages, for example `serveHttp options`.
 * @param OptionError The class of the error that is thrown.
 * @throws {OptionError} An unknown name (the message lists the known ones) or a value of the wrong kind. `NaN` is rejected as a number, `Infinity` is
 * accepted.
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

/** Formats a value for an error message. Long strings are left out, because they may be secrets. */
function show(value: unknown): string {
  if (typeof value === 'string') return value.length <= 20 ? JSON.stringify(value) : 'a long string';
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  return String(value);
}
