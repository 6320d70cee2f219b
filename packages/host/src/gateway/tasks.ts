/** Tasks in front of a gateway: its tasks extension runs tools of the servers behind, as a server's own runs registered tools. */

import { ProtocolError } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR } from '@mortise/jsonrpc-core/messages';
import type { ServerExtension } from '@mortise/protocol/contracts';
import type { Caller } from './caller.ts';
import type { GatewayContext } from './pending-call.ts';

/** The member of a call's `_meta` that says which caller a task belongs to. The gateway sets it; servers behind never get it. */
export const META_CALLER = 'dev.mortise/caller';

/** Returns a tasks extension that runs the tools of the servers behind. */
export function createGatewayTasks(tasks: ServerExtension, findCaller: (id: unknown) => Caller | undefined): ServerExtension {
  return {
    ...tasks,
    install: (host) =>
      tasks.install({
        ...host,
        toolOptions: () => undefined,
        authorizeTool: (name, call) => (call as unknown as GatewayContext).app.taskOptions(name),
        // The server behind checks them.
        checkArguments: () => Promise.resolve(undefined),
        runTool(record, run) {
          const caller = findCaller(record.meta?.[META_CALLER]);
          if (caller?.principal === record.principal) return caller.runTask(record, run);
          return Promise.reject(new ProtocolError(INTERNAL_ERROR, 'The caller of this task has left the gateway'));
        },
      }),
  };
}
