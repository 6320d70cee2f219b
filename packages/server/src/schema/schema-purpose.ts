/** What a schema is for: it decides which side of a conversion peers see, and how messages name the schema. */

import { SchemaUnsupportedError } from '../errors.ts';

/** Where a schema stands. */
export type SchemaPurpose = 'tool input' | 'tool output' | 'prompt arguments' | 'elicitation';

/** A schema's place, for the messages of errors. */
export interface SchemaPlace {
  readonly purpose: SchemaPurpose;
  /** The tool's or prompt's name; of an elicitation, the tool that asks. */
  readonly name: string;
}

/** Which of a schema's two sides peers see: what it takes, or what it gives. */
export type SchemaDirection = 'input' | 'output';

/** Of a tool's output the peer sees what the schema gives; of all else, what it takes. */
export function directionOf(purpose: SchemaPurpose): SchemaDirection {
  return purpose === 'tool output' ? 'output' : 'input';
}

const NAMES: Readonly<Record<SchemaPurpose, readonly [owner: string, option: string]>> = {
  'tool input': ['tool', 'inputSchema'],
  'tool output': ['tool', 'outputSchema'],
  'prompt arguments': ['prompt', 'argsSchema'],
  elicitation: ['elicitation of', 'requestedSchema'],
};

/** The error of a schema that cannot be used: `tool "add": inputSchema ...`. @param reason A clause that says what is wrong and what to do. */
export function unsupported({ purpose, name }: SchemaPlace, reason: string, cause?: unknown): SchemaUnsupportedError {
  const [owner, option] = NAMES[purpose];
  return new SchemaUnsupportedError(`${owner} "${name}": ${option} ${reason}`, cause === undefined ? undefined : { cause });
}

/** What an error says of something that was thrown. */
export function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
