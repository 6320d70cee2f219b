/** A model that the chat talks with. Messages and tools have the form of Chat Completions, which `@mortise/host/openai` makes. */

import type { ChatAnswer, ChatTool, ChatToolCall } from '@mortise/host/openai';

/** What the model says, and the tools that it wants to be called before it goes on. */
export interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: string;
  readonly tool_calls?: readonly ChatToolCall[];
}

/** A message that is text alone. */
export interface TextMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

export type ChatMessage = TextMessage | AssistantMessage | ChatAnswer;

export interface ModelRequest {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ChatTool[];
  readonly maxTokens?: number | undefined;
  readonly signal: AbortSignal;
  /** Called with each part of the text as it arrives. */
  readonly onText: (text: string) => void;
}

export interface Model {
  readonly name: string;
  answer(request: ModelRequest): Promise<AssistantMessage>;
}
