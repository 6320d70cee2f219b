/** Whether a value fits a field of a form. Every check is linear in the value. */

import type { FormField, FormIssue, MultiChoiceField, NumberField, TextField } from './forms.ts';

/** Gives what is wrong, one issue at most. */
export function checkField(field: FormField, value: unknown): readonly FormIssue[] {
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
  return format === undefined || FORMATS[format].fits(value) ? undefined : FORMATS[format].says;
}

const FORMATS: Readonly<Record<NonNullable<TextField['format']>, { readonly says: string; fits(value: string): boolean }>> = {
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
