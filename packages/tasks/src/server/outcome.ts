/** How results and errors end a task of either generation. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { toWireError } from '@mortise/jsonrpc-core/messages';
import type { TaskOutcome } from '../engine/engine-options.ts';
import { toCoreOutcome } from '../wire/legacy.ts';
import { toExtensionOutcome } from '../wire/modern.ts';
import { CORE_GENERATION } from '../wire/names.ts';

export function toOutcome(generation: string, result: JsonObject): TaskOutcome {
  const { resultType } = result;
  if (typeof resultType === 'string' && resultType !== 'complete')
    return toFailure(new Error(`A task cannot end with a result of the kind "${resultType}"`));
  return generation === CORE_GENERATION ? toCoreOutcome(result) : toExtensionOutcome(result);
}

export function toFailure(error: unknown): TaskOutcome {
  const told = toWireError(error);
  return { status: 'failed', error: told, statusMessage: told.message };
}
