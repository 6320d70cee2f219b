/**
 * The server as the one who asks for tasks: questions to clients of the core's generation that take them go out as tasks of the
 * client's, so that an answer that takes long survives a lost connection.
 */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { hasCapability } from '@mortise/protocol/checks';
import type { Ask, ExtensionCall, ExtensionHost } from '@mortise/protocol/contracts';

/** By method: what a client declares that takes it as a task. */
const CAPABILITIES: Readonly<Record<string, string>> = {
  'elicitation/create': 'tasks.requests.elicitation.create',
  'sampling/createMessage': 'tasks.requests.sampling.createMessage',
};

type Next = Parameters<Parameters<ExtensionHost['interceptAsk']>[0]>[2];

/** Puts questions as tasks where the client takes them so. @see 2025-11-25 basic/utilities/tasks#creating-tasks */
export function askAsTasks(host: ExtensionHost): void {
  host.interceptAsk(async (ask, call, next) => {
    if (!isTaken(ask, call)) return next(ask);
    const created = await next({ ...ask, params: { ...ask.params, task: {} } });
    const taskId = isJsonObject(created['task']) ? created['task']['taskId'] : undefined;
    // A client may answer at once all the same.
    return typeof taskId === 'string' ? fetchResult(taskId, ask, call, next) : created;
  });
}

function isTaken({ method }: Ask, { revision, clientCapabilities }: ExtensionCall): boolean {
  const needed = CAPABILITIES[method];
  return needed !== undefined && revision.rules.coreTasks && hasCapability(clientCapabilities, needed);
}

/** Waits for the result. One that is no longer wanted is cancelled as tasks are. */
async function fetchResult(taskId: string, ask: Ask, call: ExtensionCall, next: Next): Promise<JsonObject> {
  const about = { params: { taskId } };
  const signal = ask.signal ? AbortSignal.any([ask.signal, call.signal]) : call.signal;
  const wanted = { signal, ...(ask.timeoutMs === undefined ? {} : { timeoutMs: ask.timeoutMs }) };
  try {
    return await next({ method: 'tasks/result', ...about, ...wanted });
  } catch (error) {
    if (signal.aborted && hasCapability(call.clientCapabilities, 'tasks.cancel'))
      await next({ method: 'tasks/cancel', ...about }, { belongsToCall: false }).catch(() => undefined);
    throw error;
  }
}
