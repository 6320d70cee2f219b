/** What extensions are given: their methods, filters and interceptors become the server's, and tools can be run from records. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { checkExtensionId } from '@mortise/protocol/checks';
import type { BusMessage, ExtensionHost, ListenFilter, ServerExtension } from '@mortise/protocol/contracts';
import { RegistrationError } from './errors.ts';
import { onDemand } from './on-demand.ts';
import { requireScopes } from './registry/require-scopes.ts';
import type { Tools } from './registry/tools.ts';
import { RequestCall } from './request-call.ts';
import type { ServerCore } from './server-core.ts';

const withRecorded = onDemand(() => import('./run-recorded.ts'));

/** Installs a server's extensions. @param filters Takes their listen filters. @param tools Undefined for a low-level server. */
export function installExtensions(core: ServerCore, filters: ListenFilter[], tools: () => Tools | undefined): void {
  for (const extension of core.options.extensions ?? []) {
    const problem = checkExtensionId(extension.id);
    if (problem !== undefined) throw new RegistrationError(`extension "${extension.id}": ${problem}`);
    extension.install(createHost(core, extension, filters, tools));
  }
}

function createHost(core: ServerCore, extension: ServerExtension, filters: ListenFilter[], tools: () => Tools | undefined): ExtensionHost {
  return {
    addMethod(method, { eras, nameParam }, fn) {
      core.addExtensionMethod(method, { run: (params, call) => fn(params, call), isBounded: false, eras, nameParam });
    },
    addNotification(method, { eras }, fn) {
      core.notifications.add(method, { eras, run: fn });
    },
    intercept(method, fn) {
      core.addInterceptor(method, async (call, next) => {
        let inner: JsonObject | undefined;
        const result = await fn(call.params, call, async () => (inner = await next()));
        // What the extension answers itself has the shape that it chose.
        if (result !== inner && extension.answers?.includes(method)) call.ownResult = result;
        return result;
      });
    },
    runTool: async (record, run) => withRecorded(({ runRecorded }) => runRecorded(core, tools(), record, run)),
    toolOptions: (name, principal) => tools()?.find(name, principal)?.options,
    authorizeTool(name, call) {
      const item = call instanceof RequestCall ? tools()?.findFor(name, call) : tools()?.find(name, call.principal);
      if (item?.scopes) requireScopes(`tool "${item.key}"`, item.scopes, { principal: call.principal, auth: call.auth });
      return item?.options;
    },
    publish: (event: BusMessage) => core.publish(event),
    addFilter(filter) {
      if (filters.some(({ key }) => key === filter.key))
        throw new RegistrationError(`extension "${extension.id}": the listen filter "${filter.key}" is taken`);
      filters.push(filter);
    },
    interceptAsk: (fn) => void core.askInterceptors.push(fn),
    onClose: (fn) => void core.onClose.push(fn),
  };
}
