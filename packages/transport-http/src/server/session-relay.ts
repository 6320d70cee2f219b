/**
 * Leads what a client sends to the machine that waits for it, where several serve one session: answers to questions, and cancellations,
 * may arrive anywhere.
 */

import type { JsonRpcMessage, JsonRpcNotification, JsonRpcRequest, JsonValue, Logger } from '@mortise/jsonrpc-core';
import { classifyMessage } from '@mortise/jsonrpc-core/messages';
import type { AuthInfo, BusMessage, Call, MessageBus, Principal } from '@mortise/protocol/contracts';
import type { HostedSession } from './hosted-session.ts';
import { rejectUnreachable, UNANSWERED } from './reject-unreachable.ts';

const NEVER: AbortSignal = new AbortController().signal;

export class SessionRelay {
  readonly #bus: MessageBus;
  readonly #logger: Logger;
  /** Tells this machine's own messages from others'. */
  readonly #origin: string = crypto.randomUUID();

  constructor(bus: MessageBus, logger: Logger) {
    this.#bus = bus;
    this.#logger = logger;
  }

  /** Hands a session what others receive for it. @returns The function that ends this, which never throws. */
  watch(session: HostedSession): () => void {
    const unsubscribe = this.#bus.subscribe(topicOf(session), (event) => void this.#deliver(session, event));
    return () => {
      try {
        unsubscribe();
      } catch (error) {
        this.#logger.log('error', 'The message bus failed to end the subscription of a session', { error: String(error) });
      }
    };
  }

  /** Tells others of a message that may be for one of them. Never rejects: it has reached whoever it is for here. */
  async pass(session: HostedSession, message: JsonRpcMessage): Promise<void> {
    if (!mayBeForAnother(message)) return;
    const payload = { origin: this.#origin, message: message as unknown as JsonValue };
    try {
      await this.#bus.publish({ topic: topicOf(session), principal: session.principal, payload });
    } catch (error) {
      this.#logger.log('error', 'A message could not be passed on to other machines', { error: String(error) });
    }
  }

  /** Never rejects: nobody waits for it. */
  async #deliver(session: HostedSession, event: BusMessage): Promise<void> {
    try {
      const { origin, message } = event.payload as unknown as { readonly origin: string; readonly message: JsonRpcMessage };
      if (origin === this.#origin) return;
      if (classifyMessage(message) === 'invalid') throw new TypeError('It holds no message');
      await session.legacy.receive(message, new RelayedCall(session));
    } catch (error) {
      this.#logger.log('error', 'A message that another machine passed on could not be delivered', { error: String(error) });
    }
  }
}

function topicOf({ id }: HostedSession): string {
  return `session:${id}`;
}

function mayBeForAnother(message: JsonRpcMessage): boolean {
  return !('method' in message) || message.method === 'notifications/cancelled';
}

class RelayedCall implements Call {
  readonly principal: Principal;
  readonly auth: AuthInfo | undefined;
  readonly isCancelled: boolean = false;

  constructor({ principal, auth }: HostedSession) {
    this.principal = principal;
    this.auth = auth;
  }

  get signal(): AbortSignal {
    return NEVER;
  }

  cancel(): void {}

  send(message: JsonRpcNotification | JsonRpcRequest): Promise<void> {
    return rejectUnreachable(message, UNANSWERED);
  }
}
