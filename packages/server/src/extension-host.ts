/** What extensions are given: their methods, filters and interceptors become the server's, and tools can be run from records. */

import { type JsonObject, ProtocolError, type RequestId } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS } from '@mortise/jsonrpc-core/messages';
import { findRevision, type Revision } from '@mortise/protocol';
import { checkExtensionId, isLoggingLevel, isProgressToken } from '@mortise/protocol/checks';
import { META_LOG_LEVEL, META_PROGRESS_TOKEN } from '@mortise/protocol/wire';
import type {
  AuthInfo,
  BusMessage,
  CallOrigin,
  ExtensionHost,
  HandlerRun,
  ListenFilter,
  Principal,
  ServerExtension,
  ToolCallRecord,
} from '@mortise/protocol/contracts';
import type { CallToolResult } from '@mortise/protocol';
import type { CallFacts } from './call-facts.ts';
import { RegistrationError } from './errors.ts';
import { LogGate } from './logging.ts';
import type { ClientFacts } from './middleware/middleware.ts';
import { ProgressReporter } from './progress.ts';
import type { Tools } from './registry/tools.ts';
import type { ServerCore } from './server-core.ts';

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
    runTool: (record, run) => runTool(core, tools(), record, run),
    toolOptions: (name, principal) => tools()?.find(name, principal)?.options,
    publish: (event: BusMessage) => core.publish(event),
    addFilter(filter) {
      if (filters.some(({ key }) => key === filter.key))
        throw new RegistrationError(`extension "${extension.id}": the listen filter "${filter.key}" is taken`);
      filters.push(filter);
    },
    onClose: (fn) => void core.onClose.push(fn),
  };
}

async function runTool(core: ServerCore, tools: Tools | undefined, record: ToolCallRecord, run: HandlerRun): Promise<CallToolResult> {
  const revision = findRevision(record.revision);
  if (!revision)
    throw new ProtocolError(
      INVALID_PARAMS,
      `The record of tool "${record.tool}" is of version ${record.revision}, which is not known here`,
    );
  const item = tools?.find(record.tool, record.principal);
  if (!tools || !item) throw new ProtocolError(INVALID_PARAMS, `Unknown tool: "${record.tool.slice(0, 128)}"`);
  return tools.run(item, record.arguments, new RecordedCall(core, record, revision, run));
}

/** A run from a record: no request stands behind it. */
class RecordedCall implements CallFacts {
  readonly core: ServerCore;
  readonly revision: Revision;
  readonly run: HandlerRun;
  readonly requestId: RequestId | undefined = undefined;
  readonly sessionId: string | undefined = undefined;
  readonly auth: AuthInfo | undefined = undefined;
  readonly origin: CallOrigin | undefined = undefined;
  readonly app: unknown = undefined;
  readonly #record: ToolCallRecord;
  #state: Map<unknown, unknown> | undefined;
  #progress: ProgressReporter | undefined;
  #logGate: LogGate | undefined;

  constructor(core: ServerCore, record: ToolCallRecord, revision: Revision, run: HandlerRun) {
    this.core = core;
    this.revision = revision;
    this.run = run;
    this.#record = record;
  }

  get principal(): Principal {
    return this.#record.principal;
  }
  get client(): ClientFacts {
    return { info: undefined, capabilities: this.#record.clientCapabilities };
  }
  get meta(): JsonObject {
    return this.#record.meta ?? {};
  }
  get state(): Map<unknown, unknown> {
    return (this.#state ??= new Map());
  }
  get signal(): AbortSignal {
    return this.run.signal;
  }
  get isOver(): boolean {
    return this.run.signal.aborted;
  }
  get logGate(): LogGate | undefined {
    const level = this.meta[META_LOG_LEVEL];
    if (!isLoggingLevel(level) || !this.core.capabilities.has(this.revision, 'logging')) return undefined;
    return (this.#logGate ??= new LogGate(level, this.core.clock, this.core.options.logging));
  }
  get progress(): ProgressReporter | undefined {
    const token = this.meta[META_PROGRESS_TOKEN];
    if (this.#progress || !isProgressToken(token)) return this.#progress;
    const send = (params: JsonObject): Promise<void> => this.run.report({ jsonrpc: '2.0', method: 'notifications/progress', params });
    return (this.#progress = new ProgressReporter(token, send, this.core.clock, this.core.options.progress));
  }

  report(notification: Parameters<HandlerRun['report']>[0]): Promise<void> {
    return this.run.report(notification);
  }

  closeStream(): void {}
}
