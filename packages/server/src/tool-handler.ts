/** The types of a tool's handler: what it is given and what it may give back. */

import type { ContentBlock, InputRequiredResult, MetaObject } from '@mortise/protocol/model';
import type { AnySchema, InferInput, InferOutput, ObjectSchema } from './schema/infer.ts';

/**
 * What a handler may give back: a whole result, or just text, one block of content, or several. A tool with an `outputSchema` gives
 * `structuredContent` of the type that the schema takes, or says that it failed; without `content` it is mirrored as JSON text.
 */
export type ToolReturn<Out = undefined> =
  | InputRequiredResult
  | (Out extends undefined
      ? string | ContentBlock | readonly ContentBlock[] | ToolResultLike
      : StructuredResultLike<InferInput<Out>> | FailedResultLike);

/** The result of a tool with an `outputSchema`. */
export interface StructuredResultLike<Value> {
  readonly structuredContent: Value;
  readonly content?: readonly ContentBlock[] | undefined;
  readonly isError?: false | undefined;
  readonly _meta?: MetaObject | undefined;
}

/** The result of a tool that failed: `content` says how, and `outputSchema` does not apply. */
export interface FailedResultLike {
  readonly isError: true;
  readonly content?: readonly ContentBlock[] | undefined;
  readonly structuredContent?: unknown;
  readonly _meta?: MetaObject | undefined;
}

/** A tool's result, with everything that can be filled in left optional. */
export interface ToolResultLike {
  readonly content?: readonly ContentBlock[] | undefined;
  readonly structuredContent?: unknown;
  /** The tool failed, and `content` says how; `outputSchema` does not apply. @default false */
  readonly isError?: boolean | undefined;
  readonly _meta?: MetaObject | undefined;
}

/** A tool's handler: `(args, ctx)` where there is an `inputSchema`, `(ctx)` where there is none. */
export type ToolHandler<In, Out, Context> = In extends undefined
  ? (ctx: Context) => ToolReturn<Out> | Promise<ToolReturn<Out>>
  : (args: InferOutput<In>, ctx: Context) => ToolReturn<Out> | Promise<ToolReturn<Out>>;

/** What a tool's `inputSchema` may be: its root is an object. */
export type ToolInputSchema = ObjectSchema | undefined;

/** What a tool's `outputSchema` may be: any schema. Revisions up to 2025-11-25 are told those whose root is an object. */
export type ToolOutputSchema = AnySchema | undefined;
