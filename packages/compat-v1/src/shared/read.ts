/** Reads what a program's handler was given and what it returns, as v1 does for a few methods. */

import { type AnySchema, safeParse, type SchemaOutput } from '../server/zod-compat.ts';
import { ErrorCode, McpError } from '../types.ts';

/** @param problem What the error says before zod's message. @throws {McpError} The value does not fit. */
export function read<S extends AnySchema>(schema: S, value: unknown, problem: string): SchemaOutput<S> {
  const outcome = safeParse(schema, value);
  if (outcome.success) return outcome.data;
  const { error } = outcome;
  throw new McpError(ErrorCode.InvalidParams, `${problem}: ${error instanceof Error ? error.message : String(error)}`);
}
