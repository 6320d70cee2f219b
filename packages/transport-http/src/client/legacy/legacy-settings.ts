/** What the channels of the legacy era are told about how to behave. */

import type { Clock } from '@mortise/jsonrpc-core';
import { systemClock } from '@mortise/jsonrpc-core/transport';
import { type HttpTransportOptions, toBounds } from '../http-transport-options.ts';
import type { ReconnectionOptions } from './reconnect-pace.ts';

export interface LegacySettings {
  readonly clock: Clock;
  readonly random: () => number;
  readonly maxMessageBytes: number;
  readonly maxErrorBytes: number;
  readonly reconnection: ReconnectionOptions;
  /** Whether a stream is opened for what belongs to no request. */
  readonly getStream: boolean;
  /** Whether `close` leaves the session alive at the server. */
  readonly keepsSession: boolean;
  /** Whether a server that refuses `initialize` is tried as one of HTTP+SSE. */
  readonly sseFallback: boolean;
  readonly acceptTimeoutMs: number;
  readonly endpointTimeoutMs: number;
  readonly closeTimeoutMs: number;
  readonly lineage: Lineage;
}

/** What channels that follow one another towards one server know of each other. */
export interface Lineage {
  /**
   * Whether a 400 that speaks of the session was taken for a lost session, and no session has answered a request since. Then it is an error like
   * others, so that a server which always answers so is not asked for session after session.
   */
  isBadRequestSpent: boolean;
}

/** What a program has said, with what holds where it has not. */
export function toLegacySettings(options: HttpTransportOptions, lineage: Lineage): LegacySettings {
  const { clock = systemClock, random = Math.random, reconnectionOptions = {}, maxMessageBytes } = options;
  return {
    clock,
    random,
    reconnection: reconnectionOptions,
    lineage,
    ...toBounds({ maxMessageBytes }),
    getStream: options.getStream !== false,
    keepsSession: options.keepsSession === true,
    sseFallback: options.sseFallback !== false,
    acceptTimeoutMs: 30_000,
    endpointTimeoutMs: 10_000,
    closeTimeoutMs: 1_000,
  };
}
