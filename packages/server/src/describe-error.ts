/** The text that a model sees of an error thrown by a tool, without stacks, paths and secrets. See docs/decisions/tool-errors.md. */

import { isMortiseError } from '@mortise/jsonrpc-core';
import { hideInText } from './hide-secrets.ts';

const MAX_CHARACTERS = 300;

/** Patterns removed from error texts besides likely secrets, and their replacements. Linear time: no repetition nests or overlaps. */
const UNSAFE: readonly (readonly [RegExp, string])[] = [
  [/file:\/\/\S+/gi, '[path]'],
  [/(^|[\s"'`(=[,])\/[^\s"'`()/]+\/[^\s"'`()]*/g, '$1[path]'],
  [/\b[A-Za-z]:\\[^\s"'`]+/g, '[path]'],
  [/\b([\w-]*(?:password|secret|token|key))(["']?\s?[:=]\s?["']?)[^\s"',;]+/gi, '$1$2[redacted]'],
  [/\b[\w+/-]{40,}={0,2}/g, '[redacted]'],
];

/**
 * The default of `ServerOptions.describeError`. Returns the first line of the message of a `ToolError`, another Mortise error or a plain `Error`,
 * without likely paths and secrets. Returns undefined for subclasses and for errors with a `code`, because platform and library errors reveal
 * internals.
 */
export function describeError(error: unknown): string | undefined {
  try {
    if (isMortiseError(error)) return error.code === 'ERR_TOOL' ? error.message : toSafeLine(error.message);
    return isPlainError(error) ? toSafeLine(error.message) : undefined;
  } catch {
    // A thrown value may have getters that throw.
    return undefined;
  }
}

function isPlainError(error: unknown): error is Error {
  return (
    error instanceof Error && Object.getPrototypeOf(error) === Error.prototype && !('code' in error) && typeof error.message === 'string'
  );
}

function toSafeLine(message: string): string | undefined {
  const [line = ''] = message.slice(0, 4 * MAX_CHARACTERS).split('\n');
  const safe = UNSAFE.reduce((text, [pattern, mark]) => text.replace(pattern, mark), hideInText(line)).trim();
  return safe === '' ? undefined : safe.slice(0, MAX_CHARACTERS);
}
