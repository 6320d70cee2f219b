/** The types of a tool's handler: what it is given and what it may give back. */

import type { ContentBlock, InputRequiredResult, MetaObject } from '@mortise/protocol/model';
import type { AnySchema, InferInput, InferOutput, ObjectSchema } from './schema/infer.ts';

/**
 * What a handler may give back: a whole result, or just text, one block of content, or several.
 *
 * `structuredContent` has the type that the tool's `outputSchema` takes; without `content` it is mirrored as JSON text.
 */
export type ToolReturn<Out = undefined> = string | ContentBlock | readonly ContentBlock[] | ToolResultLike<Out> | InputRequiredResult;

/** A tool's result, with everything that can be filled in left optional. */
export interface ToolResultLike<Out = undefined> {
  readonly content?: readonly ContentBlock[] | undefined;
  readonly structuredContent?: (Out extends undefined ? unknown : InferInput<Out>) | undefined;
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
