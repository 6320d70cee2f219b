/**
 * A message bus carries events between the parts of one server, also across machines.
 *
 * B1  A message reaches each subscriber that subscribed to its topic before it was published, at most once.
 * B2  Messages of one publisher on one topic arrive in order.
 * B3  `publish` resolves once the bus has accepted the message; it never waits for subscribers.
 * B4  A subscriber that throws does not disturb the others.
 * B5  After the function that `subscribe` returned has been called, the subscriber is not called again. A second call does nothing.
 */

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

/** Carries events between the parts of one server, also across machines. Guarantees B1 to B5 are at the top of this file. */
export interface MessageBus {
  publish(message: BusMessage): Promise<void>;
  /** Calls `onMessage` with each message on the topic from now on. @returns A function that ends the subscription. */
  subscribe(topic: string, onMessage: (message: BusMessage) => void): () => void;
  close(): Promise<void>;
}
