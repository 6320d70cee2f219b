/** The tools of a server: how they are listed, found and run. */

import { isMortiseError, type JsonObject, ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS } from '@mortise/jsonrpc-core/messages';
import { type CallToolResult, NEWEST } from '@mortise/protocol';
import { checkToolName } from '@mortise/protocol/checks';
import type { Call, ParamHeaders, Principal, SchemaIssue, SchemaOutcome } from '@mortise/protocol/contracts';
import { createContext } from '../call-context.ts';
import type { CallFacts } from '../call-facts.ts';
import type { RegisteredTool, ToolChanges, ToolConfig } from '../config.ts';
import type { HandlerContext } from '../context.ts';
import { describeError } from '../describe-error.ts';
import { isForProtocol } from '../is-for-protocol.ts';
import { normalizeToolResult } from '../normalize-result.ts';
import type { RequestCall } from '../request-call.ts';
import { withPhrasing } from '../schema/load-phrasing.ts';
import type { ServerCore } from '../server-core.ts';
import { isThenable } from '../thenable.ts';
import { Catalog } from './catalog.ts';
import { CatalogHandle } from './catalog-handle.ts';
import { checkChanges } from './check-shown.ts';
import { checkRegisteredName, checkRegistration } from './check-registration.ts';
import { requireScopes } from './require-scopes.ts';
import { ToolItem } from './tool-item.ts';

/** A tool's handler once its types no longer matter. */
export type ToolFn = (...args: readonly unknown[]) => unknown;

export class Tools {
  readonly #core: ServerCore;
  readonly #catalog: Catalog<ToolItem>;
  #hasWarnedOfEmbedding = false;

  constructor(core: ServerCore) {
    this.#core = core;
    this.#catalog = new Catalog({ core, kind: 'tools', noun: 'tool', method: 'tools/list', member: 'tools' });
    core.setMethod('tools/list', { isBounded: true, run: (_params, call) => this.#catalog.list(call) });
    core.setMethod('tools/call', {
      isBounded: true,
      findsByName: true,
      run: (params, call) => this.#call(params, call),
      toExpiredResult: (error) => toErrorResult(error.message),
    });
  }

  register(name: string, config: ToolConfig, handler: ToolFn): RegisteredTool {
    checkRegistration('tool', name, config, handler);
    this.#checkName(name);
    const item = new ToolItem(name, config, handler, this.#core);
    this.#catalog.add(item);
    this.#core.registerCapability('tools', { listChanged: true });
    return new ToolHandle(item, this.#catalog, (changed) => this.#checkName(changed));
  }

  find(name: string, principal: Principal, caller: Pick<Call, 'auth' | 'origin'> = {}): ToolItem | undefined {
    return this.#catalog.find(name, { principal, auth: caller.auth, app: undefined, origin: caller.origin });
  }

  /** A tool as a call sees it. */
  findFor(name: string, call: RequestCall): ToolItem | undefined {
    return this.#catalog.find(name, call);
  }

  /** A tool that is enabled, whoever may see it. */
  findAny(name: string): ToolItem | undefined {
    return this.#catalog.findAny(name);
  }

  /** Asked before each call over HTTP: the rule of a tool without any is not. */
  paramHeaders(name: string, principal: Principal, caller?: Pick<Call, 'auth' | 'origin'>): ParamHeaders | undefined {
    return this.findAny(name)?.paramHeaders && this.find(name, principal, caller)?.paramHeaders;
  }

  /** Runs a tool. Gives a promise only where the tool or a schema does. Throws and rejects for faults of the protocol alone. */
  run(item: ToolItem, args: JsonObject, facts: CallFacts): CallToolResult | Promise<CallToolResult> {
    try {
      const checked = item.checkArguments(args);
      if (!isThenable(checked)) {
        const result = this.#runChecked(item, args, checked, facts);
        return isThenable(result) ? this.#settle(item, result, facts) : result;
      }
      return this.#settle(
        item,
        checked.then((outcome) => this.#runChecked(item, args, outcome, facts)),
        facts,
      );
    } catch (error) {
      return this.#toFailure(item, error, facts);
    }
  }

  #call(params: JsonObject, call: RequestCall): JsonObject | Promise<JsonObject> {
    const name = params['name'] as string;
    const item = this.#catalog.find(name, call);
    if (!item) throw new ProtocolError(INVALID_PARAMS, `Unknown tool: "${name.slice(0, 128)}"`);
    if (item.scopes) requireScopes(`tool "${item.key}"`, item.scopes, call);
    return this.run(item, (params['arguments'] ?? NO_ARGUMENTS) as JsonObject, call);
  }

  #runChecked(
    item: ToolItem,
    args: JsonObject,
    outcome: SchemaOutcome<unknown>,
    facts: CallFacts,
  ): CallToolResult | Promise<CallToolResult> {
    if ('issues' in outcome) return refuseArguments(item, args, outcome.issues, facts);
    const ctx: HandlerContext = createContext(facts);
    const value = item.input ? item.handler(outcome.value, ctx) : item.handler(ctx);
    return isThenable(value) ? Promise.resolve(value).then((settled) => this.#toResult(item, settled)) : this.#toResult(item, value);
  }

  #toResult(item: ToolItem, value: unknown): CallToolResult | Promise<CallToolResult> {
    const result = normalizeToolResult(value, item.owner);
    if (isThenable(result)) return result;
    if (!this.#hasWarnedOfEmbedding && result.content?.some(({ type }) => type === 'resource')) this.#noticeEmbedding(item);
    return result;
  }

  /** @see 2026-07-28 server/tools#embedded-resources */
  #noticeEmbedding({ key }: ToolItem): void {
    if (this.#core.capabilities.has(NEWEST, 'resources')) return;
    this.#hasWarnedOfEmbedding = true;
    this.#core.logger.log(
      'warning',
      `tool "${key}" embeds a resource, but the server declares no resources: register them, or declare the capability`,
    );
  }

  async #settle(item: ToolItem, result: PromiseLike<CallToolResult>, facts: CallFacts): Promise<CallToolResult> {
    try {
      return await result;
    } catch (error) {
      return this.#toFailure(item, error, facts);
    }
  }

  /** @throws What is to be answered by a JSON-RPC error. */
  #toFailure(item: ToolItem, error: unknown, facts: CallFacts): CallToolResult {
    if (isForProtocol(error, facts)) throw error;
    facts.span?.recordError(error);
    // What a tool says by itself the model reads in full; of all else the operator alone sees what it was.
    this.#core.logger.log(isMortiseError(error) && error.code === 'ERR_TOOL' ? 'info' : 'error', 'A tool failed', {
      tool: item.key,
      error,
    });
    return toErrorResult(this.#describe(error) ?? 'internal error: the log of the server has the details');
  }

  #describe(error: unknown): string | undefined {
    try {
      return (this.#core.options.describeError ?? describeError)(error);
    } catch (cause) {
      this.#core.logger.log('error', 'describeError failed', { error: cause });
      return undefined;
    }
  }

  #checkName(name: string): void {
    const problem = checkToolName(name);
    if (problem !== undefined) this.#core.warnOnce(`${problem}; some clients will not take it`);
  }
}

const NO_ARGUMENTS: JsonObject = Object.freeze({});

function toErrorResult(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}

function refuseArguments(
  item: ToolItem,
  value: JsonObject,
  issues: readonly SchemaIssue[],
  facts: CallFacts,
): CallToolResult | Promise<CallToolResult> {
  return withPhrasing(({ describeIssues }) => {
    const message = describeIssues(issues, { owner: `tool "${item.key}"`, part: 'argument', value });
    if (facts.revision.rules.invalidArgumentsAreResults) return toErrorResult(message);
    throw new ProtocolError(INVALID_PARAMS, message);
  });
}

class ToolHandle extends CatalogHandle<ToolItem> implements RegisteredTool {
  readonly #checkName: (name: string) => void;

  constructor(item: ToolItem, catalog: Catalog<ToolItem>, checkName: (name: string) => void) {
    super(item, catalog);
    this.#checkName = checkName;
  }

  update(changes: ToolChanges): void {
    checkChanges(`tool "${this.name}"`, changes);
    const { name, enabled, handler, callback, paramsSchema, ...config } = changes;
    if (name === null) return this.remove();
    if (name !== undefined) {
      checkRegisteredName('tool', name);
      this.#checkName(name);
    }
    const inputSchema = paramsSchema ?? config.inputSchema;
    const change = this.item.prepare(
      { ...config, ...(inputSchema === undefined ? {} : { inputSchema }) },
      (handler ?? callback) as ToolFn | undefined,
    );
    this.apply(change, name, enabled);
  }
}
