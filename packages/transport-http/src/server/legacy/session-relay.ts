/**
 * Passes clients' messages between machines that serve the same sessions. A client's answer to a server's request, or a cancellation, may
 * arrive at another machine than the one that waits for it.
 */

import type { JsonRpcMessage, JsonValue, Logger } from '@mortise/jsonrpc-core';
import { classifyMessage } from '@mortise/jsonrpc-core/messages';
import type { BusMessage, MessageBus } from '@mortise/protocol/contracts';
import type { HttpSession } from './http-session.ts';
import { LegacyCall } from './legacy-call.ts';

export class SessionRelay {
  readonly #bus: MessageBus;
  readonly #logger: Logger;
  /** Marks the messages that this machine publishes on the bus, so that it ignores them when they come back. */
  readonly #origin: string = crypto.randomUUID();

  constructor(bus: MessageBus, logger: Logger) {
    this.#bus = bus;
    this.#logger = logger;
  }

  /** Delivers to a session its messages that arrive at other machines. @returns A function that ends the subscription. It never throws. */
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

  /** Publishes an answer or a cancellation on the bus, because another machine may wait for it. @throws Errors of the bus. */
  async pass(session: HttpSession, message: JsonRpcMessage): Promise<void> {
    if ('method' in message && message.method !== 'notifications/cancelled') return;
    const payload = { origin: this.#origin, message: message as unknown as JsonValue };
    await this.#bus.publish({ topic: topicOf(session), principal: session.principal, payload });
  }

  /** Passes a message from the bus to the session. Logs errors and never rejects. */
  async #deliver(session: HttpSession, event: BusMessage): Promise<void> {
    try {
      const { origin, message } = event.payload as unknown as { readonly origin: string; readonly message: JsonRpcMessage };
      if (origin === this.#origin) return;
      if (classifyMessage(message) === 'invalid') throw new TypeError('An event of the message bus does not contain a JSON-RPC message');
      await session.endpointSession.receive(message, new LegacyCall(session));
    } catch (error) {
      this.#logger.log('error', 'A message from another machine could not be delivered', { error: String(error) });
    }
  }
}

function topicOf({ id }: HttpSession): string {
  return `session:${id}`;
}
