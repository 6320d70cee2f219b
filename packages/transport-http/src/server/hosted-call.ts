/** What an endpoint is given with each request: who calls, how to reach them, when to stop. Everything costly is made when asked for. */

import type { JsonRpcNotification, JsonRpcRequest } from '@mortise/jsonrpc-core';
import type { AuthInfo, CallOrigin, Call, Principal } from '@mortise/protocol/contracts';
import type { HttpRequest } from './http-request.ts';
import type { LimitSubject, Settings } from './options.ts';
import type { Slotted } from './slots.ts';

/** A verified or anonymous caller, and the request that it makes. */
export class Caller {
  readonly request: HttpRequest;
  readonly auth: AuthInfo | undefined;
  readonly #settings: Settings;
  #limitKey: string | undefined;

  constructor(request: HttpRequest, auth: AuthInfo | undefined, settings: Settings) {
    this.request = request;
    this.auth = auth;
    this.#settings = settings;
  }

  get principal(): Principal {
    return this.auth?.principal ?? 'anonymous';
  }

  /** The absolute URL that was asked for. */
  get url(): string {
    return toRequestUrl(this.request, this.#settings.baseUrl);
  }

  get origin(): CallOrigin {
    return new RequestOrigin(this);
  }

  /** What the caller's sessions and streams are counted by. Asked for once, or another might be counted out than was counted in. */
  get limitKey(): string {
    return (this.#limitKey ??= this.#settings.limitKey(this.subject));
  }

  get subject(): LimitSubject {
    const { principal, request } = this;
    return {
      principal,
      remoteAddress: request.remoteAddress,
      method: request.method,
      header: (name) => request.header(name.toLowerCase()),
    };
  }
}

/** The URL that a request asked for, as clients know it. @param baseUrl What a proxy in front is known as. */
export function toRequestUrl(request: HttpRequest, baseUrl: string | undefined): string {
  const base = baseUrl === undefined ? `${request.scheme}://${request.authority ?? 'localhost'}` : baseUrl.replace(/\/$/, '');
  return base + request.mountPath + request.target;
}

export abstract class HostedCall implements Call, Slotted {
  slot: number = -1;
  readonly caller: Caller;
  #controller: AbortController | undefined;
  #abortReason: unknown;
  #isCancelled = false;

  constructor(caller: Caller) {
    this.caller = caller;
  }

  get principal(): Principal {
    return this.caller.principal;
  }

  get auth(): AuthInfo | undefined {
    return this.caller.auth;
  }

  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#isCancelled) this.#controller.abort(this.#abortReason);
    }
    return this.#controller.signal;
  }

  get origin(): CallOrigin {
    return this.caller.origin;
  }

  abstract send(message: JsonRpcNotification | JsonRpcRequest): Promise<void>;

  /** Ends the exchange because the host closes. */
  cut(reason: Error): void {
    this.cancel(reason);
  }

  /** Stops the call. Does nothing the second time. */
  cancel(reason: unknown): void {
    if (this.#isCancelled) return;
    this.#isCancelled = true;
    this.#abortReason = reason;
    this.#controller?.abort(reason);
  }
}

class RequestOrigin implements CallOrigin {
  readonly method: string;
  readonly url: string;
  declare readonly remoteAddress?: string;
  readonly #request: HttpRequest;

  constructor(caller: Caller) {
    const { request } = caller;
    this.method = request.method;
    this.url = caller.url;
    this.#request = request;
    if (request.remoteAddress !== undefined) this.remoteAddress = request.remoteAddress;
  }

  header(name: string): string | undefined {
    return this.#request.header(name.toLowerCase());
  }
}
