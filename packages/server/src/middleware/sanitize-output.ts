/** `sanitizeOutput()`: takes out of text what a person would not see and a model would. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isInputRequired } from '@mortise/protocol/checks';
import { checkTypes } from '../check-types.ts';
import type { Middleware } from './middleware.ts';

const DEFAULT_METHODS: readonly string[] = ['tools/call', 'prompts/get'];

const HIDDEN = /* @__PURE__ */ (() => {
  /** Terminal sequences: CSI, OSC up to its end, and the two-character ones. */
  const ESCAPES = String.raw`\u001b\[[0-?]{0,64}[ -/]{0,8}[@-~]|\u001b\][^\u0007\u001b]{0,4096}(?:\u0007|\u001b\\)?|\u001b[@-Z\\^_]`;
  /** Control characters but for tab and line ends. */
  const CONTROLS = String.raw`[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]`;
  /** Marks that turn the direction of text around, so that it reads otherwise than it is. */
  const DIRECTIONS = String.raw`[\u202a-\u202e\u2066-\u2069]`;
  /** Characters without any look: zero-width spaces, word joiners, and the tags that can spell a whole hidden text. */
  const INVISIBLE = String.raw`[\u00ad\u180e\u200b\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]`;
  /** A second and further variant selector in a row chooses nothing: such runs hide bytes. */
  const SELECTORS = String.raw`(?<=[\ufe00-\ufe0f\u{e0100}-\u{e01ef}])[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]+`;
  return new RegExp([ESCAPES, CONTROLS, DIRECTIONS, INVISIBLE, SELECTORS].join('|'), 'gu');
})();

/** Fields that hold encoded bytes: nothing in them is text. */
const BYTES: ReadonlySet<string> = new Set(['blob', 'data']);
const MAX_DEPTH = 200;

/** What is cleaned, and how much may remain. */
export interface SanitizeOutputOptions {
  /** Whose results are cleaned. @default `tools/call` and `prompts/get`. What `resources/read` gives may be a file, which should arrive as it is. */
  readonly methods?: readonly string[] | undefined;
  /** Cuts each block of text after so many characters and says so. @default no bound */
  readonly maxTextCharacters?: number | undefined;
  /** Cleans the arguments of prompts too, before the handler puts them into a message. @default true */
  readonly promptArguments?: boolean | undefined;
}

/**
 * Removes terminal sequences, control characters, marks that reverse the direction of text, and invisible characters (with which
 * instructions are smuggled past the person who reads along) from results, and from the arguments of prompts.
 *
 * Does NOT judge what text says: an instruction in plain sight stays.
 *
 * @throws {RegistrationError} `ERR_REGISTRATION`: `maxTextCharacters` is no number.
 * @see 2026-07-28 server/prompts#security; server/tools#security-considerations
 */
export function sanitizeOutput(options: SanitizeOutputOptions = {}): Middleware {
  checkTypes("sanitizeOutput's options", options, { maxTextCharacters: 'amount' });
  const { maxTextCharacters = Infinity, promptArguments = true } = options;
  const methods = new Set(options.methods ?? DEFAULT_METHODS);
  return async (call, next) => {
    if (!methods.has(call.method)) return next();
    const cleansArguments = promptArguments && call.method === 'prompts/get';
    const result = await (cleansArguments ? next(clean(call.params, Infinity)) : next());
    return isInputRequired(result) ? result : clean(result, maxTextCharacters);
  };
}

/** What has nothing hidden is given back as it is, not copied. */
function clean(object: JsonObject, maxTextCharacters: number): JsonObject {
  return cleanValue(object, '', maxTextCharacters, 0) as JsonObject;
}

function cleanValue(value: JsonValue, name: string, maxTextCharacters: number, depth: number): JsonValue {
  if (typeof value === 'string') return name === 'text' ? cut(cleanText(value), maxTextCharacters) : cleanText(value);
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) {
    const list: readonly JsonValue[] = value;
    const copy = list.map((item) => cleanValue(item, name, maxTextCharacters, depth + 1));
    return copy.every((item, i) => item === list[i]) ? list : copy;
  }
  let copy: Record<string, JsonValue | undefined> | undefined;
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined || BYTES.has(key)) continue;
    const cleaned = cleanValue(member, key, maxTextCharacters, depth + 1);
    if (cleaned !== member) (copy ??= { ...(value as JsonObject) })[key] = cleaned;
  }
  return copy ?? value;
}

function cleanText(text: string): string {
  return text.replace(HIDDEN, '');
}

function cut(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  return `${text.slice(0, maxCharacters).replace(/[\uD800-\uDBFF]$/, '')}\n[cut: ${text.length - maxCharacters} more characters]`;
}
