/** What the handler of a notification may know of who sent it. */

import type { JsonObject, JsonRpcNotification } from '@mortise/jsonrpc-core';
import type { ClientCapabilities, Revision } from '@mortise/protocol';
import { findRequest } from '@mortise/protocol/revisions';
import type { Ask, AuthInfo, ExtensionCall, Principal } from '@mortise/protocol/contracts';
import { requireClientCapability } from '../asks/required-capabilities.ts';
import { AskUnavailableError } from '../errors.ts';
import type { Session } from './session.ts';

export class NotificationCall implements ExtensionCall {
  readonly revision: Revision;
  readonly principal: Principal;
  readonly auth: AuthInfo | undefined;
  readonly via: 'channel' = 'channel';
  readonly #session: Session;
  #controller: AbortController | undefined;

  constructor(session: Session, revision: Revision, host: { readonly principal: Principal; readonly auth?: AuthInfo | undefined }) {
    this.#session = session;
    this.revision = revision;
    this.principal = host.principal;
    this.auth = host.auth;
  }

  get clientCapabilities(): ClientCapabilities {
    return this.#session.client.capabilities;
  }

  /** Nothing cancels a notification, so it never aborts. */
  get signal(): AbortSignal {
    return (this.#controller ??= new AbortController()).signal;
  }

  notify(notification: JsonRpcNotification): Promise<void> {
    this.#session.tell(notification, undefined);
    return Promise.resolve();
  }

  readonly tell = (notification: JsonRpcNotification): void => this.#session.tell(notification, undefined);

  async request(ask: Ask): Promise<JsonObject> {
    const session = this.#session;
    if (!findRequest(this.revision, ask.method, 'server') || !session.link.canRequest || !session.isReady) {
      throw new AskUnavailableError(`"${ask.method}" cannot be sent to this client now`);
    }
    requireClientCapability(ask, this.revision, this.clientCapabilities);
    const { core } = session;
    const result = await session.link.request(ask.method, ask.params, {
      signal: ask.signal,
      timeoutMs: ask.timeoutMs ?? core.options.askTimeoutMs ?? 600_000,
    });
    return this.revision.fromWire.results.get(ask.method)?.(result) ?? result;
  }
}
