/** The callers of a gateway: finds the one of a request, and ends those that have left or were idle for long. */

import { type Clock, type ClockTimer, ProtocolError } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR } from '@mortise/jsonrpc-core/messages';
import type { MiddlewareCall, RawSession } from '@mortise/server/low-level';
import { pickAsked } from './backend.ts';
import type { Caller } from './caller.ts';
import type { GatewayOptions } from './gateway-options.ts';

type CallFacts = Omit<MiddlewareCall<undefined>, 'app'>;

export class Callers {
  readonly #clock: Clock;
  readonly #idleMs: number;
  readonly #max: number;
  readonly #create: (call: CallFacts) => Caller;
  readonly #callers = new Map<RawSession | string, Caller>();
  /** The sessions that have had a caller. */
  readonly #sessions = new WeakSet<RawSession>();
  #sweep: ClockTimer | undefined;

  constructor({ callerIdleMs = 600_000, maxCallers = 1_000 }: GatewayOptions, clock: Clock, create: (call: CallFacts) => Caller) {
    this.#clock = clock;
    this.#idleMs = callerIdleMs;
    this.#max = maxCallers;
    this.#create = create;
  }

  get all(): readonly Caller[] {
    return [...this.#callers.values()];
  }

  findById(id: unknown): Caller | undefined {
    return this.all.find((caller) => caller.id === id);
  }

  /** Returns the caller of a request. @throws {ProtocolError} -32603: too many callers are busy. */
  find(call: CallFacts): Caller {
    const { session } = call;
    // A modern request stands alone: what makes a caller of several is who sends them, and what the client can be asked.
    const key = session ?? JSON.stringify([call.principal, call.revision.version, pickAsked(call.client.capabilities)]);
    const caller = this.#callers.get(key) ?? this.#add(key, call);
    caller.lastUsedMs = this.#clock.monotonicMs();
    return caller;
  }

  async close(): Promise<void> {
    this.#sweep?.cancel();
    const { all } = this;
    this.#callers.clear();
    await Promise.all(all.map((caller) => caller.close()));
  }

  #add(key: RawSession | string, call: CallFacts): Caller {
    // One principal never has more than half of the places, so that it cannot end the connections of all others.
    const own = [...this.#callers].filter(([, { principal }]) => principal === call.principal);
    if (own.length >= Math.ceil(this.#max / 2)) this.#makeRoom(own);
    else if (this.#callers.size >= this.#max) this.#makeRoom([...this.#callers]);
    const caller = this.#create(call);
    this.#callers.set(key, caller);
    if (typeof key !== 'string') {
      // A session whose connections made room may have missed changes.
      if (this.#sessions.has(key)) caller.onAllChanged();
      else void key.closed.then(() => this.#end(key));
      this.#sessions.add(key);
    }
    this.#sweep ??= this.#clock.schedule(() => this.#onSweep(), this.#idleMs);
    return caller;
  }

  /** Ends the one of these callers that is idle longest. @throws {ProtocolError} -32603: all are busy. */
  #makeRoom(among: readonly (readonly [RawSession | string, Caller])[]): void {
    const idle = among.filter(([, caller]) => !caller.isBusy).sort(([, one], [, other]) => one.lastUsedMs - other.lastUsedMs);
    const [first] = idle;
    if (!first)
      throw new ProtocolError(INTERNAL_ERROR, `This gateway has ${this.#max} callers at most, and yours are busy: try again later`);
    this.#end(first[0]);
  }

  #onSweep(): void {
    this.#sweep = undefined;
    const nowMs = this.#clock.monotonicMs();
    for (const [key, caller] of this.#callers)
      if (typeof key === 'string' && !caller.isBusy && nowMs - caller.lastUsedMs >= this.#idleMs) this.#end(key);
    if (this.#callers.size > 0) this.#sweep = this.#clock.schedule(() => this.#onSweep(), this.#idleMs);
  }

  #end(key: RawSession | string): void {
    const caller = this.#callers.get(key);
    this.#callers.delete(key);
    void caller?.close();
  }
}
