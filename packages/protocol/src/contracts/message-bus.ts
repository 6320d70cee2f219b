/** The message bus between the parts of one server. */

import type { JsonValue } from '@mortise/jsonrpc-core';
import type { Principal } from './auth.ts';

/** An event on a topic of a `MessageBus`. */
export interface BusMessage {
  /** The topic: `tools/list_changed`, `resource:<uri>`, `task:<id>`, or anything an extension chooses. */
  readonly topic: string;
  /** Set if the event is only for subscribers of this principal. */
  readonly principal?: Principal;
  readonly payload?: JsonValue;
}

/**
 * Carries events between the parts of one server, also across machines.
 *
 * - B1: Once `subscribe` has resolved, each message that is published on the topic reaches the subscriber, at most once. If messages may
 *   have been lost, as after a lost connection, `onGap` is called instead, when the subscription works again.
 * - B2: Messages of one publisher on one topic arrive in order.
 * - B3: `publish` resolves once the bus has accepted the message, and rejects if it has not. It never waits for subscribers.
 * - B4: A subscriber that throws does not disturb the others.
 * - B5: After the function that `subscribe` resolved to has been called, the subscriber is not called again. A second call does nothing.
 * - B6: Payloads may have any size, and topics any length and characters.
 */
export interface MessageBus {
  publish(message: BusMessage): Promise<void>;
  /**
   * Calls `onMessage` with each message that is published on the topic after this has resolved.
   *
   * @param onGap Called when messages may have been lost: what the messages were about must be read again. @default nothing is called
   * @returns A function that ends the subscription.
   */
  subscribe(topic: string, onMessage: (message: BusMessage) => void, onGap?: () => void): Promise<() => void>;
  close(): Promise<void>;
}
