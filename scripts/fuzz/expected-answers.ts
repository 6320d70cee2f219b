/**
 * Which answers a frame demands: an independent reading of JSON-RPC and of the rule that each request with a readable id gets
 * exactly one answer. The fuzzer counts answers against it.
 */

import type { Json } from './mutate.ts';

/** A reader may refuse what nests deeper than its bound (128 by default) as no JSON, and then cannot know the id. */
const certainDepth = 100;

/** A reader may refuse what holds more values than its bound (500,000 by default) in the same way. */
const certainMembers = 200_000;

/** An id that is longer is not taken for one. */
const maxIdLength = 1024;

/** What one id is owed: as many answers as it was sent with, at most; fewer where it was cancelled or cannot be read for sure. */
interface Owed {
  most: number;
  least: number;
  came: number;
}

/** How many answers a connection owes by id, and how many came. */
export class AnswerCount {
  readonly #owed = new Map<string, Owed>();
  #unreadable = 0;
  #withoutId = 0;
  #came = 0;
  /** How many answers are still owed: what a wait looks at again and again. */
  #open = 0;
  #strays: string[] = [];

  /** Notes a frame that is sent. `isBatchRead`: the connection has agreed on a revision that reads arrays. */
  noteFrame(frame: Json, isBatchRead: boolean): void {
    const members = Array.isArray(frame) ? frame : [frame];
    // What nests too deeply or holds too many values for some readers, and an array that is refused as a whole, may be answered member by member or not.
    const isRefused = Array.isArray(frame) && (frame.length === 0 || !isBatchRead);
    const isOptional = isRefused || isDeep(frame, certainDepth) || countMembers(frame) > certainMembers;
    if (isRefused) this.#unreadable += 1;
    for (const member of members) this.#noteMessage(member, isOptional);
  }

  /** Notes a frame that is no JSON. */
  noteUnreadable(): void {
    this.#unreadable += 1;
  }

  /** Takes back the last unreadable frame: the channel cannot carry it. */
  forgetUnreadable(): void {
    this.#unreadable -= 1;
  }

  /** Notes a message of the peer. */
  noteArrival(message: Json): void {
    if (Array.isArray(message)) return message.forEach((member) => this.noteArrival(member));
    if (message === null || typeof message !== 'object' || 'method' in message) return;
    const { id } = message;
    if (id === undefined || id === null) {
      this.#withoutId += 1;
      return;
    }
    const owed = this.#owed.get(keyOf(id));
    if (owed === undefined || owed.came >= owed.most) this.#strays.push(JSON.stringify(message).slice(0, 300));
    else {
      this.#change(owed, () => (owed.came += 1));
      this.#came += 1;
    }
  }

  /** How many answers came to requests. */
  get came(): number {
    return this.#came;
  }

  /** How many answers must still come. */
  get open(): number {
    return this.#open;
  }

  /** The ids that still wait for an answer which they must get. */
  get unanswered(): readonly string[] {
    return [...this.#owed].filter(([, { least, came }]) => came < least).map(([id]) => id);
  }

  /** Answers to an id that nobody asked with, or more of them than were asked for. */
  get strays(): readonly string[] {
    return this.#strays;
  }

  /** Frames that could not be read, and errors without an id. */
  get unreadable(): { readonly sent: number; readonly answered: number } {
    return { sent: this.#unreadable, answered: this.#withoutId };
  }

  #noteMessage(message: Json, isOptional: boolean): void {
    if (message === null || typeof message !== 'object' || Array.isArray(message)) {
      if (!isOptional) this.#unreadable += 1;
      return;
    }
    this.#noteCancellation(message);
    const hasMethod = Object.hasOwn(message, 'method');
    const hasOutcome = Object.hasOwn(message, 'result') || Object.hasOwn(message, 'error');
    if (!hasMethod && hasOutcome) return;
    const id = Object.hasOwn(message, 'id') ? message['id'] : undefined;
    if (!isReadableId(id)) return;
    const owed: Owed = this.#owed.get(keyOf(id)) ?? { most: 0, least: 0, came: 0 };
    owed.most += 1;
    // A subscription stays open: its answer comes when it ends, or never on a connection that is cut.
    if (!isOptional && message['method'] !== 'subscriptions/listen') this.#change(owed, () => (owed.least += 1));
    this.#owed.set(keyOf(id), owed);
  }

  /** Changes what one id is owed and keeps the sum of what is open. */
  #change(owed: Owed, change: () => void): void {
    const before = Math.max(0, owed.least - owed.came);
    change();
    this.#open += Math.max(0, owed.least - owed.came) - before;
  }

  /** A request that is cancelled while it runs gets no answer. */
  #noteCancellation(message: { readonly [key: string]: Json }): void {
    if (message['method'] !== 'notifications/cancelled') return;
    const { params } = message;
    if (params === null || typeof params !== 'object' || Array.isArray(params)) return;
    const owed = isReadableId(params['requestId']) ? this.#owed.get(keyOf(params['requestId'])) : undefined;
    if (owed !== undefined) this.#change(owed, () => (owed.least = Math.min(owed.least, owed.came)));
  }
}

const isDeep = (value: Json, levels: number): boolean =>
  value !== null && typeof value === 'object' && (levels === 0 || Object.values(value).some((member) => isDeep(member, levels - 1)));

const countMembers = (value: Json): number =>
  value === null || typeof value !== 'object'
    ? 0
    : Object.values(value).reduce<number>(
        (count, member) => count + countMembers(member),
        Array.isArray(value) ? 0 : Object.keys(value).length,
      );

const keyOf = (id: Json): string => JSON.stringify(id);

function isReadableId(id: Json | undefined): id is string | number {
  return typeof id === 'string' ? id.length <= maxIdLength : typeof id === 'number' && Number.isSafeInteger(id);
}
