/** Posts a message that is only accepted, not answered: a notification, or the client's own answer. Used by both legacy channels. */

import { ConnectionClosedError, type RequestId, TimeoutError } from '@mortise/jsonrpc-core';
import type { WaitingCaller } from '@mortise/jsonrpc-core/transport';
import { type HttpFailure, readFailure } from '../http-failure.ts';
import type { HttpCall } from '../http-sender.ts';
import { describe, type Sending, type Wire } from '../wire.ts';
import type { LegacySettings } from './legacy-settings.ts';
import { PausableTimer, pauseBoth } from './pausable-timer.ts';

/** Whose message it is. */
export interface NoticeTerms {
  /** Of a request, whose answer comes elsewhere but whose refusal comes here. */
  readonly id?: RequestId | undefined;
  /** Whose time stands still while somebody signs in, with that of the notice itself. */
  readonly caller?: WaitingCaller | undefined;
}

export class Notice {
  /** Resolves with nothing once the message is accepted, or with how it was refused. */
  readonly outcome: Promise<HttpFailure | undefined>;
  readonly #sending: Sending;
  readonly #timer: PausableTimer;

  constructor(wire: Wire, call: HttpCall, settings: LegacySettings, { id, caller }: NoticeTerms) {
    const { clock, acceptTimeoutMs } = settings;
    this.#timer = new PausableTimer(clock, () => this.#expire(call, acceptTimeoutMs), acceptTimeoutMs);
    this.#sending = wire.send(call, { pauseTimeout: () => pauseBoth(this.#timer, caller) });
    this.outcome = this.#await(wire, call, settings, id);
  }

  /** Gives it up. */
  stop(): void {
    this.#sending.abort(new ConnectionClosedError());
  }

  #expire(call: HttpCall, timeoutMs: number): void {
    this.#sending.abort(new TimeoutError(`${describe(call)} was not accepted within ${timeoutMs} ms`, timeoutMs));
  }

  async #await(wire: Wire, call: HttpCall, { maxErrorBytes }: LegacySettings, id: RequestId | undefined): Promise<HttpFailure | undefined> {
    try {
      const answer = await this.#sending.answer;
      if (answer.status < 200 || answer.status > 299) return await readFailure(call, answer, id, maxErrorBytes);
      wire.lingering.discard(answer);
      return undefined;
    } finally {
      this.#timer.cancel();
    }
  }
}
