/** Helpers to show an elicitation: the fields of a form, or the address of a page. */

import { InvalidResponseError, type JsonObject } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { classifyHost } from '@mortise/protocol/edge';
import { createJsonSchemaValidator } from '@mortise/protocol/json-schema';
import type { ElicitContent } from '@mortise/protocol/model';

/** What every kind of form field has. */
export interface FormFieldBase {
  /** The key of the field's value in the answer's `content`. */
  readonly name: string;
  /** The field's title, else its name. Text from the server: show it as plain text, never as markup or a link. */
  readonly label: string;
  readonly description: string | undefined;
  readonly isRequired: boolean;
}

/** A form field for text. */
export interface TextField extends FormFieldBase {
  readonly kind: 'text';
  readonly format: 'email' | 'uri' | 'date' | 'date-time' | undefined;
  /** The least number of characters; undefined for no limit. */
  readonly minLength: number | undefined;
  /** The greatest number of characters; undefined for no limit. */
  readonly maxLength: number | undefined;
  readonly default: string | undefined;
}

/** A form field for a number. */
export interface NumberField extends FormFieldBase {
  readonly kind: 'number';
  readonly isInteger: boolean;
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  readonly default: number | undefined;
}

/** A form field for true or false. */
export interface SwitchField extends FormFieldBase {
  readonly kind: 'switch';
  readonly default: boolean | undefined;
}

/** A value that a choice field offers, and the label to show for it. */
export interface FormOption {
  readonly value: string;
  readonly label: string;
}

/** A form field for one of several values. */
export interface ChoiceField extends FormFieldBase {
  readonly kind: 'choice';
  readonly options: readonly FormOption[];
  readonly default: string | undefined;
}

/** A form field for any number of several values. Since 2025-11-25. */
export interface MultiChoiceField extends FormFieldBase {
  readonly kind: 'multi-choice';
  readonly options: readonly FormOption[];
  readonly minItems: number | undefined;
  readonly maxItems: number | undefined;
  readonly default: readonly string[] | undefined;
}

/** One field of an elicitation form; `switch (field.kind)` narrows the type. */
export type FormField = TextField | NumberField | SwitchField | ChoiceField | MultiChoiceField;

/** A problem with the value that the user gave for a field. */
export interface FormIssue {
  readonly field: string;
  /** What is wrong with the value, as text for the user, such as `is too short (1 < 3)`. */
  readonly message: string;
}

/** The fields of an elicitation form, and a check for the user's values. */
export interface FormDescription {
  /** The fields to show, in the server's order. */
  readonly fields: readonly FormField[];
  /** The initial values of the fields, by field name. */
  readonly defaults: ElicitContent;
  /** Returns the problems of an answer; empty if the answer is valid. Does not check values that belong to no field. */
  check(content: Readonly<Record<string, unknown>>): readonly FormIssue[];
}

/** How many fields a form may have. Limits the cost of showing it. */
const MAX_FIELDS = 200;
const MAX_OPTIONS = 2000;
const validator = /* @__PURE__ */ createJsonSchemaValidator({ from: 'peer' });
const FORMATS: readonly unknown[] = ['email', 'uri', 'date', 'date-time'];

/**
 * Describes the form of an elicitation. Reads the choices of every revision.
 *
 * @param requestedSchema `params.requestedSchema` of the elicitation.
 * @throws {InvalidResponseError} `ERR_INVALID_RESPONSE`: the form is not flat, or has more than 200 fields, or more than 2,000 choices in a field.
 * @see 2026-07-28 client/elicitation#requested-schema
 */
export function describeForm(requestedSchema: unknown): FormDescription {
  if (!isJsonObject(requestedSchema)) throw new InvalidResponseError('the server sent a form whose "requestedSchema" is not an object');
  const { properties = {}, required } = requestedSchema;
  if (!isJsonObject(properties)) throw new InvalidResponseError('the server sent a form whose "requestedSchema" has no "properties"');
  const entries = Object.entries(properties);
  if (entries.length > MAX_FIELDS)
    throw new InvalidResponseError(`the server's elicitation form has ${entries.length} fields: at most ${MAX_FIELDS} are supported`);
  const names = new Set(Array.isArray(required) ? required : []);
  const drawn = entries.map(([name, raw]) => toField(name, raw, names.has(name)));
  const fields = drawn.map(({ field }) => field);
  const known = fields.flatMap((field) => (field.default === undefined ? [] : [[field.name, field.default] as const]));
  return {
    fields,
    defaults: Object.fromEntries(known),
    check: (content) => drawn.flatMap(({ field, check }) => checkField(field, check, content)),
  };
}

/** Checks a field's value. Returns the problem; undefined if the value is valid. */
type FieldCheck = (value: unknown) => string | undefined;

/** Makes a field and its check from the field's schema. The client makes the same check before it sends the answer. */
function toField(name: string, raw: unknown, isRequired: boolean): { readonly field: FormField; readonly check: FieldCheck } {
  if (!isJsonObject(raw)) throw unknownKind(name);
  const base: FormFieldBase = { name, label: textOf(raw['title']) ?? name, description: textOf(raw['description']), isRequired };
  const field = toKind(name, base, raw);
  const validate = validator.compile(raw);
  const check: FieldCheck = (value) => validate(value)[0]?.message;
  // Leaves out a default that fails the field's own check.
  const isMisfit = field.default !== undefined && check(field.default) !== undefined;
  return { field: isMisfit ? ({ ...field, default: undefined } as FormField) : field, check };
}

function checkField({ name, isRequired }: FormField, check: FieldCheck, content: Readonly<Record<string, unknown>>): readonly FormIssue[] {
  const value = Object.hasOwn(content, name) ? content[name] : undefined;
  const message = value === undefined ? (isRequired ? 'must be filled in' : undefined) : check(value);
  return message === undefined ? [] : [{ field: name, message }];
}

function toKind(name: string, base: FormFieldBase, raw: JsonObject): FormField {
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
      const options = isJsonObject(raw['items']) ? readOptions(name, raw['items']) : undefined;
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

/** Reads the choices of a field: with titles, without titles, or with the older `enumNames`; undefined if the field has no choices. */
function readOptions(name: string, raw: JsonObject): readonly FormOption[] | undefined {
  const titled = raw['oneOf'] ?? raw['anyOf'];
  const { enum: values, enumNames } = raw;
  if (titled === undefined && values === undefined) return undefined;
  const given: unknown = titled ?? values;
  if (!Array.isArray(given)) throw unknownKind(name);
  if (given.length > MAX_OPTIONS)
    throw new InvalidResponseError(`the form field "${name}" has ${given.length} choices: at most ${MAX_OPTIONS} are supported`);
  return given.map((one: unknown, index) => {
    const value = titled !== undefined && isJsonObject(one) ? one['const'] : one;
    if (typeof value !== 'string') throw unknownKind(name);
    const label =
      titled !== undefined && isJsonObject(one) ? one['title'] : Array.isArray(enumNames) ? (enumNames[index] as unknown) : undefined;
    return { value, label: textOf(label) ?? value };
  });
}

function unknownKind(name: string): InvalidResponseError {
  return new InvalidResponseError(`the form field "${name}" has a type that is not supported: it must be text, number, boolean or choice`);
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

// ---- pages

/**
 * A reason to warn the user about the address of a page that the server wants opened.
 *
 * `punycode`: the host has non-ASCII letters, which may imitate another host. `ip-address`: the host is a number, not a name. `not-https`:
 * the connection is not encrypted. `unusual-port`: a port other than the default. `many-labels`: the host has more than four parts, so its
 * beginning may look like another host.
 */
export type PageWarning = 'punycode' | 'ip-address' | 'not-https' | 'unusual-port' | 'many-labels';

/** What to show to the user before they agree to open a page. */
export interface PageAddress {
  /** The whole address in ASCII, as a browser opens it. ASCII has no lookalike letters of other scripts. */
  readonly url: string;
  /** The host in ASCII. Names that begin with `xn--` are not decoded, because the decoded form may look like another host. */
  readonly host: string;
  /** The part of the host to highlight: its last two labels, or three under endings such as `co.uk`. An estimate, not the public suffix list. */
  readonly domain: string;
  readonly warnings: readonly PageWarning[];
}

/**
 * Describes the address of a page, so that the user can decide whether to open it.
 *
 * Does NOT check `urlPolicy`: the client does that before it calls a `url` handler or lists the page in an error.
 *
 * @throws {TypeError} `url` is not an absolute URL.
 */
export function describePage(url: string): PageAddress {
  const parsed = new URL(url);
  const host = parsed.hostname;
  const labels = host.replace(/\.$/u, '').split('.');
  const isAddress = /^\[|^\d+\.\d+\.\d+\.\d+$/u.test(host);
  const warnings: PageWarning[] = [];
  if (labels.some((label) => label.startsWith('xn--'))) warnings.push('punycode');
  if (isAddress && classifyHost(host) !== 'loopback') warnings.push('ip-address');
  if (parsed.protocol !== 'https:') warnings.push('not-https');
  if (parsed.port !== '' && classifyHost(host) !== 'loopback') warnings.push('unusual-port');
  if (!isAddress && labels.length > 4) warnings.push('many-labels');
  return { url: parsed.href, host, domain: isAddress ? host : toDomain(labels), warnings };
}

/** Returns the last two labels of a host, or three if the last two are short, as in `example.co.uk`. */
function toDomain(labels: readonly string[]): string {
  const [second = '', top = ''] = labels.slice(-2);
  return labels.slice(second.length <= 3 && top.length === 2 ? -3 : -2).join('.');
}
