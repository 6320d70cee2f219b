/** Carries what machines that serve the same session tell each other, on the program's `MessageBus`. */

import type { Clock, ClockTimer, JsonRpcMessage, JsonValue, Logger } from '@mortise/jsonrpc-core';
import type { BusMessage, MessageBus } from '@mortise/protocol/contracts';
import type { HttpSession } from './http-session.ts';

/** What a machine tells the others of a session. */
export type SessionNews =
  /** The client has sent an answer or a cancellation, for which another machine may wait. */
  | { readonly message: JsonRpcMessage }
  /** The client has resumed the stream with this id here: other machines send nothing more on it. */
  | { readonly taken: string }
  /** Which machine serves the stream with this id? */
  | { readonly asked: string }
  /** The answer to both: this machine serves the stream. */
  | { readonly held: string }
  /** A changed state has been stored, with this version. Undefined if something may have changed, after a gap of the bus. */
  | { readonly changed: number | undefined }
  /** The client has ended the session. */
  | { readonly ended: true };

/** How often a machine is asked whether it still serves a stream that its client has resumed elsewhere, before it counts as gone. */
const HOLDER_ASKS = 3;
/** How long it has to answer each time, in milliseconds. Then the message is taken for lost, or the machine for busy. */
const HOLDER_MS = 1_000;

export class SessionRelay {
  readonly #bus: MessageBus;
  readonly #clock: Clock;
  readonly #logger: Logger;
  /** Marks the messages that this machine publishes on the bus, so that it ignores them when they come back. */
  readonly #origin: () => string;

  /** @param origin Returns the name of this machine. */
  constructor(bus: MessageBus, { clock, logger }: { readonly clock: Clock; readonly logger: Logger }, origin: () => string) {
    this.#origin = origin;
    this.#bus = bus;
    this.#clock = clock;
    this.#logger = logger;
  }

  /**
   * Calls `onNews` with what other machines tell of a session. If news may have been lost, the session may have changed.
   *
   * @returns A function that ends the subscription. It never throws.
   * @throws Errors of the bus.
   */
  async subscribe(session: HttpSession, onNews: (news: SessionNews) => Promise<void>): Promise<() => void> {
    const unsubscribe = await this.#bus.subscribe(
      topicOf(session),
      (event) => void this.#deliver(event, onNews),
      () => void this.#deliver({ payload: { changed: undefined } }, onNews),
    );
    return () => {
      try {
        unsubscribe();
      } catch (error) {
        this.#log('The message bus failed to end the subscription of a session', error);
      }
    };
  }

  /** Tells the other machines. @throws Errors of the bus. */
  tell(session: HttpSession, news: SessionNews): Promise<void> {
    const payload = { origin: this.#origin(), ...news } as unknown as JsonValue;
    return this.#bus.publish({ topic: topicOf(session), principal: session.principal, payload });
  }

  /** Tells the other machines. Logs errors of the bus and never rejects. */
  async tryToTell(session: HttpSession, news: SessionNews): Promise<void> {
    try {
      await this.tell(session, news);
    } catch (error) {
      this.#log('The message bus failed: other machines do not know yet what changed in a session', error);
    }
  }

  /**
   * Finds out whether another machine serves a stream: that machine says so.
   *
   * @param isTaken Whether the client has just resumed the stream here: other machines end their connections for it. Said once only, because the
   * client may go on to another machine while this one asks.
   * @returns false if no machine says so in time: the one that served the stream is gone, or cannot be reached. true if the message bus
   * fails, because then nobody was asked.
   */
  async isHeldElsewhere(session: HttpSession, streamId: string, isTaken: boolean): Promise<boolean> {
    let onHeld = (): void => undefined;
    let timer: ClockTimer | undefined;
    const held = new Promise<boolean>((resolve) => (onHeld = () => resolve(true)));
    session.asking.set(onHeld, streamId);
    try {
      for (let asks = 0; asks < HOLDER_ASKS; asks++) {
        await this.tell(session, isTaken && asks === 0 ? { taken: streamId } : { asked: streamId });
        const pause = new Promise<boolean>((resolve) => {
          timer = this.#clock.schedule(() => resolve(false), HOLDER_MS);
        });
        if (await Promise.race([held, pause])) return true;
      }
      return false;
    } catch (error) {
      this.#log('The message bus failed: whether another machine serves a stream is not known', error);
      return true;
    } finally {
      timer?.cancel();
      session.asking.delete(onHeld);
    }
  }

  async #deliver(event: Pick<BusMessage, 'payload'>, onNews: (news: SessionNews) => Promise<void>): Promise<void> {
    try {
      const { origin, ...news } = event.payload as unknown as SessionNews & { readonly origin?: string };
      if (origin !== this.#origin()) await onNews(news as SessionNews);
    } catch (error) {
      this.#log('News of a session from another machine could not be handled', error);
    }
  }

  #log(text: string, error: unknown): void {
    this.#logger.log('error', text, { error: String(error) });
  }
}

function topicOf({ id }: HttpSession): string {
  return `session:${id}`;
}
