/** One request of a hosted session, which the client may cancel by a message of its own. */

import type { JsonRpcNotification, JsonRpcRequest } from '@mortise/jsonrpc-core';
import type { AuthInfo, CallOrigin, Call, Principal } from '@mortise/protocol/contracts';
import { resolvedPromise } from '@mortise/jsonrpc-core/transport';

export class HostedCall implements Call {
  readonly #exchange: Call;
  #cancelledBy: Error | undefined;
  #controller: AbortController | undefined;
  #onCancelled: (() => void) | undefined;
  #unlink: (() => void) | undefined;

  constructor(exchange: Call) {
    this.#exchange = exchange;
  }

  get principal(): Principal {
    return this.#exchange.principal;
  }
  get auth(): AuthInfo | undefined {
    return this.#exchange.auth;
  }
  get origin(): CallOrigin | undefined {
    return this.#exchange.origin;
  }
  get closeStream(): ((retryMs?: number) => void) | undefined {
    const { closeStream } = this.#exchange;
    return closeStream && ((retryMs) => closeStream.call(this.#exchange, retryMs));
  }

  get isCancelled(): boolean {
    return this.#cancelledBy !== undefined || this.#exchange.isCancelled;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      const controller = (this.#controller = new AbortController());
      const { signal } = this.#exchange;
      if (this.#cancelledBy) controller.abort(this.#cancelledBy);
      else if (signal.aborted) controller.abort(signal.reason);
      else {
        const onAbort = (): void => controller.abort(signal.reason);
        signal.addEventListener('abort', onAbort, { once: true });
        this.#unlink = () => signal.removeEventListener('abort', onAbort);
      }
    }
    return this.#controller.signal;
  }

  /** Resolves once the client has cancelled the call, by a message or by leaving for good. */
  get cancelled(): Promise<undefined> {
    return new Promise((resolve) => {
      if (this.#cancelledBy) resolve(undefined);
      else this.#onCancelled = () => resolve(undefined);
    });
  }

  send(message: JsonRpcNotification | JsonRpcRequest): Promise<void> {
    return this.isCancelled ? resolvedPromise : this.#exchange.send(message);
  }

  cancel(reason: Error): void {
    if (this.#cancelledBy) return;
    this.#cancelledBy = reason;
    this.#controller?.abort(reason);
    this.#onCancelled?.();
  }

  /** Lets go of the exchange's signal. */
  release(): void {
    this.#unlink?.();
  }
}
