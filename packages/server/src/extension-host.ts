/** What extensions use: adds their methods, `subscriptions/listen` filters and interceptors, and runs tools from stored records. */

import { type JsonObject, ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS } from '@mortise/jsonrpc-core/messages';
import { type CallToolResult, findRevision } from '@mortise/protocol';
import { checkExtensionId } from '@mortise/protocol/checks';
import type { ExtensionHost, HandlerRun, ServerExtension, ToolCallRecord } from '@mortise/protocol/contracts';
import { Context } from './context.ts';
import { RegistrationError } from './errors.ts';
import { createCall } from './calls.ts';
import type { Server } from './server.ts';
import { toCallError } from './wire-error.ts';

/** Installs an extension. @throws {RegistrationError} Its id is invalid, or another extension has its `subscriptions/listen` filter key. */
export function installExtension(server: Server, extension: ServerExtension): void {
  if (typeof (extension as Partial<ServerExtension> | null)?.install !== 'function')
    throw new RegistrationError('the server\'s options: each of "extensions" must be an object with id and install, such as createTasks()');
  const problem = checkExtensionId(extension.id);
  if (problem !== undefined) throw new RegistrationError(`extension "${extension.id}": ${problem}`);
  extension.install(createHost(server, extension));
}

function createHost(server: Server, extension: ServerExtension): ExtensionHost {
  return {
    addMethod: (method, where, run) => server.methods.set(method, { ...where, run, isUnbounded: true }),
    intercept(method, fn) {
      server.methods.intercept(method, async (context, next) => {
        let inner: JsonObject | undefined;
        const result = await fn(context.params, context, async () => (inner = await next()));
        // A result of the extension's own is already in its final shape.
        if (result !== inner && extension.answers?.includes(method)) context.ownResult = result;
        return result;
      });
    },
    runTool: (record, run) => runTool(server, record, run),
    toolOptions: (name, principal) => server.tools?.find(name, { principal })?.options,
    authorizeTool(name, call) {
      const item = server.tools?.find(name, call);
      item?.authorize(call);
      return item?.options;
    },
    checkArguments: async (name, args, call) => server.tools?.find(name, call)?.checkArguments(args),
    publish: (event) => server.events.publish(event),
    subscribe: (topic, onMessage, onGap) => server.events.subscribe(topic, onMessage, onGap),
    hasMessageBus: server.options.messageBus !== undefined,
    addFilter(filter) {
      if (server.listenFilters.some(({ key }) => key === filter.key))
        throw new RegistrationError(`extension "${extension.id}": another extension has the subscriptions/listen filter "${filter.key}"`);
      server.listenFilters.push(filter);
    },
    onClose: (fn) => server.onClose(fn),
  };
}

/** Runs a tool from a stored record of its call. Skips middleware and scope checks, which were done when the record was made. */
async function runTool(server: Server, record: ToolCallRecord, run: HandlerRun): Promise<CallToolResult> {
  const revision = findRevision(record.revision);
  if (!revision)
    throw new ProtocolError(
      INVALID_PARAMS,
      `The record of tool "${record.tool}" has the revision ${record.revision}, which this server does not serve`,
    );
  const route = server.methods.findRoute(revision, 'tools/call');
  const item = server.tools?.findAny(record.tool);
  if (!server.tools || !item || !route) throw new ProtocolError(INVALID_PARAMS, `Unknown tool: "${record.tool.slice(0, 128)}"`);
  const params = { name: record.tool, arguments: record.arguments, ...(record.meta ? { _meta: record.meta } : {}) };
  const client = { info: undefined, capabilities: record.clientCapabilities };
  // Notifications of the run are sent by `run.report`.
  const call = createCall({ principal: record.principal, signal: run.signal }, async () => undefined);
  const context = new Context({ server, route, requestId: undefined, params, client, call, session: undefined });
  context.continueIn(run);
  try {
    return await server.tools.run(item, record.arguments, context);
  } catch (error) {
    if (run.signal.aborted) throw error;
    const { code, message, data } = toCallError(error, revision);
    throw new ProtocolError(code, message, data);
  } finally {
    context.end();
  }
}
