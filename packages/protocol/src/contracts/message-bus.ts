/**
 * Carries events between the parts and machines of one server.
 *
 * B1  A message reaches every subscriber of its topic that had subscribed before it was published, at most once each.
 * B2  Messages of one publisher on one topic arrive in order.
 * B3  `publish` resolves once the bus has accepted the message; it never waits for subscribers.
 * B4  A subscriber that throws does not disturb the others.
 * B5  After `unsubscribe` has returned the subscriber is not called again. Calling it twice does nothing.
 */

import type { JsonValue } from '@mortise/jsonrpc-core';
import type { Principal } from './auth.ts';

/** An event on an open topic. */
export interface BusMessage {
  /** `tools/list_changed`, `resource:<uri>`, `task:<id>`, or anything an extension chooses. */
  readonly topic: string;
  /** Set where only one principal may learn of it. */
  readonly principal?: Principal;
  readonly payload?: JsonValue;
}

/** Carries events. B1 to B5 above. */
export interface MessageBus {
  publish(message: BusMessage): Promise<void>;
  /** Returns the function that ends the subscription. */
  subscribe(topic: string, onMessage: (message: BusMessage) => void): () => void;
  close(): Promise<void>;
}
