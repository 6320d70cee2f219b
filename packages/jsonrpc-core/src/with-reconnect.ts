/** Opens a lost channel again. It does not restore MCP sessions: clients and servers do that. */

import { checkOptions } from './check-options.ts';
import { ConnectionClosedError, ConnectionLostError, UsageError } from './errors.ts';
import { Fifo } from './collections.ts';
import { type Clock, type ClockTimer, systemClock } from './clock.ts';
import type { JsonRpcMessage } from './message.ts';
import { emitClose, emitError, holdTransport, toCallbackError, toError } from './transport/hold-transport.ts';
import {
  type ExchangeTransport,
  isExchangeTransport,
  isLegacyOpener,
  type LegacyOpener,
  type SendOptions,
  type Transport,
  type TransportFactory,
} from './transport/transport.ts';

/** Options of `withReconnect`. */
export interface ReconnectOptions {
  /**
   * How many attempts in a row may pass without a message from the peer. Then the transport gives up and closes.
   *
   * @default 10
   */
  readonly maxAttempts?: number | undefined;
  /** The clock for the delays between attempts. @default systemClock */
  readonly clock?: Clock | undefined;
}

const MIN_DELAY_MS = 500;
const MAX_DELAY_MS = 30_000;

/**
 * Makes a transport that opens a new channel whenever the current one breaks.
 *
 * A loss is reported by `onerror` with a `ConnectionLostError`, and `Connection` then rejects the requests in flight. Sends wait until the channel is
 * open again. Delays grow exponentially from 500 ms to 30 s, with jitter. The first `start` is tried only once. `onclose` fires when the transport is
 * closed or has given up. `exchange` and `openLegacy` use the current channel.
 */
export function withReconnect(factory: TransportFactory, options: ReconnectOptions = {}): Transport {
  checkOptions('withReconnect options', options, { maxAttempts: 0, clock: 'object' });
  const transport = new ReconnectingTransport(factory, options);
  const first = transport.current;
  if (isExchangeTransport(first)) {
    const exchange: ExchangeTransport['exchange'] = (request, how) =>
      (transport.current as Transport & ExchangeTransport).exchange(request, how);
    Object.assign(transport, { exchange });
  }
  if (isLegacyOpener(first)) {
    const openLegacy: LegacyOpener['openLegacy'] = () => (transport.current as Transport & LegacyOpener).openLegacy();
    Object.assign(transport, { openLegacy });
  }
  return transport;
}

interface WaitingSend {
  readonly message: JsonRpcMessage;
  readonly options: SendOptions | undefined;
  resolve(sent: Promise<void>): void;
  reject(error: Error): void;
}

class ReconnectingTransport implements Transport {
  onmessage?: Transport['onmessage'];
  onerror?: ((error: Error) => void) | undefined;
  onclose?: (() => void) | undefined;
  /** The channel in use. While a new one is being opened, the lost one. */
  current: Transport;

  readonly #factory: TransportFactory;
  readonly #options: ReconnectOptions;
  readonly #clock: Clock;
  readonly #waiting = new Fifo<WaitingSend>();
  #state: 'new' | 'opening' | 'open' | 'lost' | 'closed' = 'new';
  #attempts = 0;
  #timer: ClockTimer | undefined;

  constructor(factory: TransportFactory, options: ReconnectOptions) {
    this.#factory = factory;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.current = factory();
  }

  get sessionId(): string | undefined {
    return this.current.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.current.setProtocolVersion?.(version);
  }

  async start(): Promise<void> {
    if (this.#state === 'closed') throw new ConnectionClosedError();
    if (this.#state !== 'new') throw new UsageError('ERR_ALREADY_STARTED');
    this.#state = 'opening';
    try {
      await this.#open(this.current);
    } catch (error) {
      this.#end();
      throw error;
    }
  }

  send(message: JsonRpcMessage, options?: SendOptions): Promise<void> {
    if (this.#state === 'open') return this.current.send(message, options);
    if (this.#state === 'new') return Promise.reject(new UsageError('ERR_NOT_CONNECTED'));
    if (this.#state === 'closed') return Promise.reject(new ConnectionClosedError());
    return new Promise((resolve, reject) => this.#waiting.push({ message, options, resolve, reject }));
  }

  async close(): Promise<void> {
    this.#end();
    await this.current.close();
  }

  async #open(channel: Transport): Promise<void> {
    let isOver = false;
    const giveBack = holdTransport(channel, {
      onMessage: (message, info) => {
        // A message proves that the channel works. A peer that accepts and drops connections must still reach maxAttempts.
        this.#attempts = 0;
        if (this.#state !== 'closed') this.onmessage?.(message, info);
      },
      onError: (error) => emitError(this, error),
      onThrown: (error) => emitError(this, toCallbackError(error)),
      onClose: () => {
        isOver = true;
        giveBack();
        if (this.#state === 'open' && this.current === channel) this.#onLost();
      },
    });
    try {
      await channel.start();
    } catch (error) {
      giveBack();
      throw error;
    }
    if (isOver) throw new ConnectionLostError('The connection was lost while it was being opened');
    if (this.#state === 'closed') return channel.close();
    this.#state = 'open';
    for (const { message, options, resolve } of this.#waiting.takeAll()) resolve(channel.send(message, options));
  }

  #onLost(): void {
    this.#state = 'lost';
    emitError(this, new ConnectionLostError());
    this.#scheduleAttempt();
  }

  #scheduleAttempt(): void {
    if (this.#state === 'closed') return;
    const { maxAttempts = 10 } = this.#options;
    if (this.#attempts >= maxAttempts) {
      emitError(this, new ConnectionClosedError(`The connection could not be reopened in ${maxAttempts} attempts`));
      this.#end();
      return;
    }
    this.#timer = this.#clock.schedule(() => void this.#attempt(), this.#nextDelayMs(), { keepAlive: true });
    this.#attempts++;
  }

  #nextDelayMs(): number {
    const topMs = Math.min(MAX_DELAY_MS, MIN_DELAY_MS * 2 ** (this.#attempts + 1));
    return MIN_DELAY_MS + Math.random() * (topMs - MIN_DELAY_MS);
  }

  async #attempt(): Promise<void> {
    try {
      this.current = this.#factory();
      await this.#open(this.current);
    } catch (error) {
      emitError(this, toError(error));
      this.#scheduleAttempt();
      try {
        await this.current.close();
      } catch {
        // It could not be opened: how it ends does not matter.
      }
    }
  }

  #end(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#timer?.cancel();
    const error = new ConnectionClosedError();
    for (const waiting of this.#waiting.takeAll()) waiting.reject(error);
    queueMicrotask(() => emitClose(this));
  }
}
