/** The modern era: each request says all there is to know about it, and nothing is remembered from one to the next. */

import type { JsonObject, JsonRpcRequest } from '@mortise/jsonrpc-core';
import type { Revision } from '@mortise/protocol';
import { checkClientParams } from '@mortise/protocol/checks';
import { invalidParamsError, readRequestMeta, unsupportedVersionError } from '@mortise/protocol/wire';
import type { Call } from '@mortise/protocol/contracts';
import { type Answer, answer, toErrorAnswer } from '../answer.ts';
import { metaOf, paramsOf, RequestCall } from '../request-call.ts';
import type { ServerCore } from '../server-core.ts';
import { methodNotFoundError } from '../wire-error.ts';

/** Answers a modern request. Neither throws nor rejects. */
export function serveModern(core: ServerCore, request: JsonRpcRequest, host: Call, via: 'channel' | 'exchange'): Answer {
  try {
    return answer(toCall(core, request, host, via));
  } catch (error) {
    return toErrorAnswer(request.id, error);
  }
}

function toCall(core: ServerCore, request: JsonRpcRequest, host: Call, via: 'channel' | 'exchange'): RequestCall {
  const { method } = request;
  const meta = readRequestMeta(request.params);
  if (typeof meta === 'string') throw invalidParamsError(meta);
  const revision = findSpoken(core, meta.protocolVersion);
  const resolved = core.resolve(revision, method);
  if (!resolved) throw methodNotFoundError(method);
  const params = withoutTask(request.params, revision);
  const problem = resolved.facts && checkClientParams(method, params);
  if (problem !== undefined) throw invalidParamsError(problem);
  const wire = paramsOf(params);
  return new RequestCall({
    core,
    resolved,
    requestId: request.id,
    params: resolved.readParams?.(wire) ?? wire,
    meta: metaOf(wire),
    client: { info: meta.clientInfo, capabilities: meta.clientCapabilities },
    host,
    via,
    session: undefined,
  });
}

/** A wish for a task that came with an older revision is no longer looked at, whatever it says. @see SEP-2663 */
function withoutTask(params: JsonObject | undefined, revision: Revision): JsonObject | undefined {
  if (params?.['task'] === undefined || revision.rules.coreTasks) return params;
  const { task: _task, ...rest } = params;
  return rest;
}

/** A legacy version may be named among the supported ones, but only `initialize` opens it. */
function findSpoken(core: ServerCore, version: string): Revision {
  const revision = core.modern.get(version);
  if (revision) return revision;
  throw unsupportedVersionError(version.slice(0, 100), core.versions);
}

/** Gives a server `server/discover`. */
export function addDiscovery(core: ServerCore): void {
  core.setMethod('server/discover', {
    isBounded: true,
    run(_params, call): JsonObject {
      const { instructions } = core.options;
      const capabilities = core.capabilities.tellTo(call.revision, {
        via: call.via,
        principal: call.principal,
        isAuthenticated: call.auth !== undefined,
        hasWayBack: true,
      });
      return {
        supportedVersions: core.versions,
        capabilities,
        ...(instructions === undefined ? {} : { instructions }),
        // What extensions show may depend on who asks.
        ...(core.options.extensions?.some((extension) => extension.capabilities) ? { cacheScope: 'private' } : {}),
      };
    },
  });
}
