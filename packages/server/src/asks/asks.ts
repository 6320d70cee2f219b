/** All that asks the client: the `Asks` of a server, loaded when a handler first asks. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { Context } from '../context.ts';

export { askByHand, askForPages } from './by-hand.ts';
export { askClient, elicit, listRoots } from './questions.ts';
export { openRound } from './round.ts';
export { send } from './send.ts';

/** Runs the handler of a request that goes on with an earlier one. It sees what it gave, and not how that was sealed. */
export async function resume(context: Context): Promise<JsonObject> {
  await context.openRound();
  const { inputResponses: _given, requestState: _sealed, ...params } = context.params;
  const { inputResponses, requestState } = context.earlier ?? {};
  context.params = { ...params, ...(inputResponses && { inputResponses }), ...(requestState !== undefined && { requestState }) };
  return context.route.entry.run(context.params, context);
}
