/**
 * Passes what a client sends to the machine that waits for it, where several serve one session: answers to the server's requests, and
 * cancellations, may arrive at any of them.
 */

import type { JsonRpcMessage, JsonValue, Logger } from '@mortise/jsonrpc-core';
import { classifyMessage } from '@mortise/jsonrpc-core/messages';
import type { BusMessage, MessageBus } from '@mortise/protocol/contracts';
import type { HttpSession } from './http-session.ts';
import { LegacyCall } from './legacy-call.ts';

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
  subscribe(session: HttpSession): () => void {
    const unsubscribe = this.#bus.subscribe(topicOf(session), (event) => void this.#deliver(session, event));
    return () => {
      try {
        unsubscribe();
      } catch (error) {
        this.#logger.log('error', 'The message bus failed to end the subscription of a session', { error: String(error) });
      }
    };
  }

  /** Hands a message that may be for another machine to all of them. @throws What the bus throws. */
  async pass(session: HttpSession, message: JsonRpcMessage): Promise<void> {
    if ('method' in message && message.method !== 'notifications/cancelled') return;
    const payload = { origin: this.#origin, message: message as unknown as JsonValue };
    await this.#bus.publish({ topic: topicOf(session), principal: session.principal, payload });
  }

  /** Never rejects. */
  async #deliver(session: HttpSession, event: BusMessage): Promise<void> {
    try {
      const { origin, message } = event.payload as unknown as { readonly origin: string; readonly message: JsonRpcMessage };
      if (origin === this.#origin) return;
      if (classifyMessage(message) === 'invalid') throw new TypeError('It holds no message');
      await session.legacy.receive(message, new LegacyCall(session));
    } catch (error) {
      this.#logger.log('error', 'A message that another machine passed on could not be delivered', { error: String(error) });
    }
  }
}

function topicOf({ id }: HttpSession): string {
  return `session:${id}`;
}
