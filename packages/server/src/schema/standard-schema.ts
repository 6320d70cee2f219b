/**
 * The two open interfaces that schema libraries share, as far as a server needs them. Known by structure: no library is imported.
 *
 * @see https://standardschema.dev/schema https://standardschema.dev/json-schema
 */

/** One thing that a library found wrong with a value. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** What a library's check gives: the value it made, or what is wrong. */
export type StandardResult<Output> =
  { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly StandardIssue[] };

/** Tells a schema as JSON Schema. Throws where JSON Schema has no words for it. */
export interface StandardJsonSchemaConverter {
  readonly input: (options: { readonly target: string }) => Record<string, unknown>;
  readonly output: (options: { readonly target: string }) => Record<string, unknown>;
}

/** What sits under `~standard`. */
export interface StandardProps<Input = unknown, Output = Input> {
  readonly version: 1;
  readonly vendor: string;
  readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
  /** Absent in libraries that cannot tell their schemas; such a schema is refused at registration. */
  readonly jsonSchema?: StandardJsonSchemaConverter | undefined;
}

/** A schema of any library that follows Standard Schema: zod, valibot, arktype and others. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': StandardProps<Input, Output>;
}

/** Tells whether a value is a Standard Schema: an object or function with `~standard` of version 1. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  const props = (value as { readonly '~standard'?: Partial<StandardProps> })['~standard'];
  return typeof props === 'object' && props !== null && props.version === 1 && typeof props.validate === 'function';
}
