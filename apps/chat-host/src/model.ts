/** A model that the chat talks with. */

import type { JsonObject } from '@mortise/jsonrpc-core';

/** A tool, as a model sees it. */
export interface ModelTool {
  readonly name: string;
  readonly description: string | undefined;
  readonly inputSchema: JsonObject;
}

/** A tool call that the model wants. */
export interface ToolRequest {
  readonly id: string;
  readonly name: string;
  /** JSON, as the model wrote it: it may be wrong. */
  readonly arguments: string;
}

export type ChatMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: string; readonly calls: readonly ToolRequest[] }
  | { readonly role: 'tool'; readonly callId: string; readonly content: string };

export interface ModelRequest {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ModelTool[];
  readonly maxTokens?: number | undefined;
  readonly signal: AbortSignal;
  /** Called with each part of the text as it arrives. */
  readonly onText: (text: string) => void;
}

/** What the model says, and the tools that it wants to be called before it goes on. */
export interface ModelAnswer {
  readonly text: string;
  readonly calls: readonly ToolRequest[];
}

export interface Model {
  readonly name: string;
  answer(request: ModelRequest): Promise<ModelAnswer>;
}
