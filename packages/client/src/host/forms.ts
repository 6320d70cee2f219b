/** A form as a host can draw it: its fields with their kinds, choices, bounds and defaults, and a check of what was filled in. */

import type { ElicitContent } from '@mortise/protocol/model';
import { InvalidResultError } from '../errors.ts';

/** What every field has. */
export interface FormFieldBase {
  /** The key of its value in the answer. */
  readonly name: string;
  /** What people read: the field's title, else its name. The server's words: show them as text, never as markup or a link. */
  readonly label: string;
  readonly description: string | undefined;
  readonly isRequired: boolean;
}

/** A line of text. */
export interface TextField extends FormFieldBase {
  readonly kind: 'text';
  readonly format: 'email' | 'uri' | 'date' | 'date-time' | undefined;
  /** In characters. */
  readonly minLength: number | undefined;
  /** In characters. */
  readonly maxLength: number | undefined;
  readonly default: string | undefined;
}

/** A number. */
export interface NumberField extends FormFieldBase {
  readonly kind: 'number';
  readonly isInteger: boolean;
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  readonly default: number | undefined;
}

/** Yes or no. */
export interface SwitchField extends FormFieldBase {
  readonly kind: 'switch';
  readonly default: boolean | undefined;
}

/** One value of a choice, and what people read for it. */
export interface FormOption {
  readonly value: string;
  readonly label: string;
}

/** One of several values. */
export interface ChoiceField extends FormFieldBase {
  readonly kind: 'choice';
  readonly options: readonly FormOption[];
  readonly default: string | undefined;
}

/** Any of several values. Since 2025-11-25. */
export interface MultiChoiceField extends FormFieldBase {
  readonly kind: 'multi-choice';
  readonly options: readonly FormOption[];
  readonly minItems: number | undefined;
  readonly maxItems: number | undefined;
  readonly default: readonly string[] | undefined;
}

/** One field of a form; `switch (field.kind)` narrows it. */
export type FormField = TextField | NumberField | SwitchField | ChoiceField | MultiChoiceField;

/** What is wrong with one field. */
export interface FormIssue {
  readonly field: string;
  /** One sentence for the user, such as `must be 3 characters or more`. */
  readonly message: string;
}

/** A form, ready to be drawn. */
export interface FormDescription {
  /** In the server's order. */
  readonly fields: readonly FormField[];
  /** What the fields hold before the user touches them. */
  readonly defaults: ElicitContent;
  /** Says what is wrong with an answer; empty where it may be sent. Values under other names than the fields' pass. */
  check(content: Readonly<Record<string, unknown>>): readonly FormIssue[];
}

type RawField = Readonly<Record<string, unknown>>;

/** A person cannot fill in more, and drawing more costs the host. */
const MAX_FIELDS = 200;
const MAX_OPTIONS = 2000;
const FORMATS: readonly unknown[] = ['email', 'uri', 'date', 'date-time'];

/**
 * Describes the form that an elicitation asks the user to fill in, in whichever way its revision writes choices.
 *
 * @param requestedSchema `params.requestedSchema` of the question.
 * @throws {InvalidResultError} `ERR_INVALID_RESULT`: it is not a flat form, or has more than 200 fields or 2,000 choices in one.
 * @see 2026-07-28 client/elicitation#requested-schema
 */
export function describeForm(requestedSchema: unknown): FormDescription {
  if (!isRecord(requestedSchema)) throw new InvalidResultError('the form is not an object: the server is at fault');
  const { properties = {}, required } = requestedSchema;
  if (!isRecord(properties)) throw new InvalidResultError('the form has no "properties": the server is at fault');
  const entries = Object.entries(properties);
  if (entries.length > MAX_FIELDS) throw new InvalidResultError(`the form has ${entries.length} fields: ${MAX_FIELDS} are drawn at most`);
  const names = new Set(Array.isArray(required) ? required : []);
  const fields = entries.map(([name, raw]) => toField(name, raw, names.has(name)));
  const known = fields.flatMap((field) => (field.default === undefined ? [] : [[field.name, field.default] as const]));
  return {
    fields,
    defaults: Object.fromEntries(known),
    check: (content) => fields.flatMap((field) => checkField(field, Object.hasOwn(content, field.name) ? content[field.name] : undefined)),
  };
}

function toField(name: string, raw: unknown, isRequired: boolean): FormField {
  if (!isRecord(raw)) throw unknownKind(name);
  const base: FormFieldBase = { name, label: textOf(raw['title']) ?? name, description: textOf(raw['description']), isRequired };
  const field = toKind(name, base, raw);
  // A default that the field itself would refuse is none.
  return field.default !== undefined && checkField(field, field.default).length > 0
    ? ({ ...field, default: undefined } as FormField)
    : field;
}

function toKind(name: string, base: FormFieldBase, raw: RawField): FormField {
  const preset = raw['default'];
  switch (raw['type']) {
    case 'boolean':
      return { ...base, kind: 'switch', default: typeof preset === 'boolean' ? preset : undefined };
    case 'number':
    case 'integer': {
      const isInteger = raw['type'] === 'integer';
      const bounds = { minimum: numberOf(raw['minimum']), maximum: numberOf(raw['maximum']) };
      return { ...base, kind: 'number', isInteger, ...bounds, default: numberOf(preset) };
    }
    case 'array': {
      const bounds = { minItems: numberOf(raw['minItems']), maxItems: numberOf(raw['maxItems']) };
      const options = isRecord(raw['items']) ? readOptions(name, raw['items']) : undefined;
      if (!options) throw unknownKind(name);
      return { ...base, kind: 'multi-choice', options, ...bounds, default: isTexts(preset) ? preset : undefined };
    }
    case 'string': {
      const options = readOptions(name, raw);
      if (options) return { ...base, kind: 'choice', options, default: textOf(preset) };
      const format = FORMATS.includes(raw['format']) ? (raw['format'] as TextField['format']) : undefined;
      const bounds = { minLength: numberOf(raw['minLength']), maxLength: numberOf(raw['maxLength']) };
      return { ...base, kind: 'text', format, ...bounds, default: textOf(preset) };
    }
    default:
      throw unknownKind(name);
  }
}

/** Choices with titles, without, or with the older `enumNames`; undefined where there are none. */
function readOptions(name: string, raw: RawField): readonly FormOption[] | undefined {
  const titled = raw['oneOf'] ?? raw['anyOf'];
  const { enum: values, enumNames } = raw;
  if (titled === undefined && values === undefined) return undefined;
  const given: unknown = titled ?? values;
  if (!Array.isArray(given)) throw unknownKind(name);
  if (given.length > MAX_OPTIONS)
    throw new InvalidResultError(`the field "${name}" has ${given.length} choices: ${MAX_OPTIONS} are drawn at most`);
  return given.map((one: unknown, index) => {
    const value = titled !== undefined && isRecord(one) ? one['const'] : one;
    if (typeof value !== 'string') throw unknownKind(name);
    const label =
      titled !== undefined && isRecord(one) ? one['title'] : Array.isArray(enumNames) ? (enumNames[index] as unknown) : undefined;
    return { value, label: textOf(label) ?? value };
  });
}

function unknownKind(name: string): InvalidResultError {
  return new InvalidResultError(
    `the field "${name}" is of no kind that forms have (text, number, boolean, choice): the server is at fault`,
  );
}

function isRecord(value: unknown): value is RawField {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** Gives what is wrong, one issue at most. */
function checkField(field: FormField, value: unknown): readonly FormIssue[] {
  const message = value === undefined ? (field.isRequired ? 'must be filled in' : undefined) : checkValue(field, value);
  return message === undefined ? [] : [{ field: field.name, message }];
}

function checkValue(field: FormField, value: unknown): string | undefined {
  switch (field.kind) {
    case 'switch':
      return typeof value === 'boolean' ? undefined : 'must be true or false';
    case 'number':
      return checkNumber(field, value);
    case 'choice':
      return field.options.some((option) => option.value === value) ? undefined : 'must be one of the choices';
    case 'multi-choice':
      return checkChoices(field, value);
    default:
      return checkText(field, value);
  }
}

function checkNumber({ isInteger, minimum = -Infinity, maximum = Infinity }: NumberField, value: unknown): string | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value)) return 'must be a number';
  if (isInteger && !Number.isInteger(value)) return 'must be a whole number';
  if (value < minimum) return `must be ${minimum} or more`;
  return value > maximum ? `must be ${maximum} or less` : undefined;
}

function checkChoices({ options, minItems = 0, maxItems = Infinity }: MultiChoiceField, value: unknown): string | undefined {
  if (!Array.isArray(value)) return 'must be a list of choices';
  const known = new Set<unknown>(options.map((option) => option.value));
  if (!value.every((one) => known.has(one))) return 'must hold nothing but the choices';
  if (value.length < minItems) return `must hold ${minItems} choices or more`;
  return value.length > maxItems ? `must hold ${maxItems} choices or fewer` : undefined;
}

function checkText({ format, minLength = 0, maxLength = Infinity }: TextField, value: unknown): string | undefined {
  if (typeof value !== 'string') return 'must be text';
  // Characters as people count them, not UTF-16 units.
  const length = [...value].length;
  if (length < minLength) return `must be ${minLength} characters or more`;
  if (length > maxLength) return `must be ${maxLength} characters or fewer`;
  return format === undefined || FORMAT_RULES[format].fits(value) ? undefined : FORMAT_RULES[format].says;
}

const FORMAT_RULES: Readonly<Record<NonNullable<TextField['format']>, { readonly says: string; fits(value: string): boolean }>> = {
  email: { says: 'must be an e-mail address', fits: (value) => value.length <= 320 && /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)*$/u.test(value) },
  uri: { says: 'must be an absolute URI', fits: (value) => /^[a-z][a-z\d+.-]*:[^\s<>"{}|\\^`]+$/iu.test(value) },
  date: { says: 'must be a date: year-month-day, in figures', fits: isDate },
  'date-time': { says: 'must be a date and time with a zone, in the way of RFC 3339', fits: isDateTime },
};

function isDate(value: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/u.exec(value) ?? [];
  if (year === undefined || month === undefined || day === undefined) return false;
  const days = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  return Number(month) >= 1 && Number(month) <= 12 && Number(day) >= 1 && Number(day) <= days;
}

function isDateTime(value: string): boolean {
  const [, date = '', time] = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/u.exec(value) ?? [];
  if (time === undefined || !isDate(date)) return false;
  const [hours = 99, minutes = 99, seconds = 99] = time.split(':').map(Number);
  return hours < 24 && minutes < 60 && seconds <= 60;
}
