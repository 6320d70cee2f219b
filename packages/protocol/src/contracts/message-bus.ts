/**
 * A message bus carries events between the parts and machines of one server.
 *
 * B1  A message reaches each subscriber that subscribed to its topic before it was published, at most once.
 * B2  Messages of one publisher on one topic arrive in order.
 * B3  `publish` resolves once the bus has accepted the message; it never waits for subscribers.
 * B4  A subscriber that throws does not disturb the others.
 * B5  After `unsubscribe` returns, the subscriber is not called again. A second call of `unsubscribe` does nothing.
 */

import type { JsonValue } from '@mortise/jsonrpc-core';
import type { Principal } from './auth.ts';

/** An event on a topic. */
export interface BusMessage {
  /** `tools/list_changed`, `resource:<uri>`, `task:<id>`, or anything an extension chooses. */
  readonly topic: string;
  /** Set if only this principal may learn of the event. */
  readonly principal?: Principal;
  readonly payload?: JsonValue;
}

/** Carries events between the parts and machines of one server. Promises B1 to B5 are at the top of this file. */
export interface MessageBus {
  publish(message: BusMessage): Promise<void>;
  /** Starts a subscription. @returns A function that ends it. */
  subscribe(topic: string, onMessage: (message: BusMessage) => void): () => void;
  close(): Promise<void>;
}
