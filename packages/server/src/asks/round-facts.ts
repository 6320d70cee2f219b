/** What a run of a handler may know of the rounds before it. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';

export interface RoundFacts {
  /** What the client answered to the questions of the last round, by their keys. */
  readonly inputResponses: Readonly<Record<string, JsonObject>>;
  /** The state that the handler gave by hand in the last round. */
  readonly requestState: JsonValue | undefined;
  /** How many notifications earlier rounds sent. */
  readonly reports: number;
  /** The highest step of progress that earlier rounds told. */
  readonly progress: number | undefined;
}
