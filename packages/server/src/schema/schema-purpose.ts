/** What a schema is for: it decides which side of a conversion is told, and how messages name the schema. */

import { SchemaUnsupportedError } from '../errors.ts';

/** Where a schema stands. */
export type SchemaPurpose = 'tool input' | 'tool output' | 'prompt arguments' | 'elicitation';

/** A schema's place, for the messages of errors. */
export interface SchemaPlace {
  readonly purpose: SchemaPurpose;
  /** The tool's or prompt's name; of an elicitation, the tool that asks. */
  readonly name: string;
}

/** Which of a schema's two sides peers are told: what it takes, or what it gives. */
export type SchemaDirection = 'input' | 'output';

/** What the peer sees of a tool's output is what the schema gives; of all else, what it takes. */
export function directionOf(purpose: SchemaPurpose): SchemaDirection {
  return purpose === 'tool output' ? 'output' : 'input';
}

const NOUNS: Readonly<Record<SchemaPurpose, (name: string) => string>> = {
  'tool input': (name) => `tool "${name}": inputSchema`,
  'tool output': (name) => `tool "${name}": outputSchema`,
  'prompt arguments': (name) => `prompt "${name}": argsSchema`,
  elicitation: (name) => `elicitation of "${name}": requestedSchema`,
};

/** Names a schema: `tool "add": inputSchema`. */
export function nameSchema(place: SchemaPlace): string {
  return NOUNS[place.purpose](place.name);
}

/** The error of a schema that peers could not be told. @param reason A clause that says what is wrong and what to do. */
export function unsupported(place: SchemaPlace, reason: string, cause?: unknown): SchemaUnsupportedError {
  return new SchemaUnsupportedError(`${nameSchema(place)} ${reason}`, cause === undefined ? undefined : { cause });
}
