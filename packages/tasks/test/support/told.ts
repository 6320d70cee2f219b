/** What the messages of these tests hold. */

import type { JsonObject } from '@mortise/jsonrpc-core';

interface Block {
  readonly type: string;
  readonly text: string;
}

/** As if each message had all of it: a test that looks for what is not there fails by what it expects. */
export interface Told {
  readonly taskId: string;
  readonly status: string;
  readonly statusMessage?: string;
  readonly ttl: number | null;
  readonly resultType?: string;
  readonly requestState: string;
  readonly task: Told;
  readonly tasks: readonly Told[];
  readonly tools: { name: string; execution?: JsonObject }[];
  readonly nextCursor?: string;
  readonly inputRequests: Readonly<Record<string, { readonly method: string; readonly params: Told }>>;
  readonly inputResponses: JsonObject;
  readonly result: Told;
  readonly content: [Block, ...Block[]];
  readonly isError?: boolean;
  readonly error: { readonly code: number; readonly message: string; readonly data?: JsonObject };
  readonly capabilities: { readonly extensions: JsonObject; readonly tasks: JsonObject };
  readonly notifications: JsonObject;
  readonly message: string;
  readonly progress: number;
  readonly _meta: JsonObject;
  /** Of an extension of a test's own. */
  readonly receipt: string;
  readonly count: number;
}
