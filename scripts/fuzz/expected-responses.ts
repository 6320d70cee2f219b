/**
 * Which responses a frame demands: an independent reading of JSON-RPC and of the rule that each request with a readable id gets
 * exactly one response. The fuzzer counts responses against it.
 */

import type { Json, JsonObject } from './mutate.ts';

/** A reader may refuse what nests deeper than its bound (128 by default) as no JSON, and then cannot know the id. */
const certainDepth = 100;
/** A reader may refuse what holds more values than its bound (500,000 by default) in the same way. */
const certainMembers = 200_000;
/** An id that is longer is not taken for one. */
const maxIdLength = 1024;

/** How many responses one id may get, how many it must get (fewer where it was cancelled or cannot be read for sure), and how many came. */
interface Owed {
  most: number;
  least: number;
  came: number;
}

/** How many responses a connection owes by id, and how many came. */
export class ResponseCount {
  readonly #owed = new Map<string, Owed>();
  /** The ids that still wait for a response which they must get. */
  readonly unanswered = new Set<string>();
  /** Responses to an id that no request has, or more of them than requests. */
  readonly strays: string[] = [];
  /** How many responses came to requests. */
  came = 0;
  /** Frames that no reader can make sense of. */
  unreadable = 0;
  /** Errors without an id. */
  withoutId = 0;

  /** Notes a frame that is sent. `isBatchRead`: the connection has agreed on a revision that reads arrays. */
  noteFrame(frame: Json, isBatchRead: boolean): void {
    const members = Array.isArray(frame) ? frame : [frame];
    // What nests too deeply or holds too many values for some readers, and an array that is refused as a whole, may be answered member by member or not.
    const isRefused = Array.isArray(frame) && (frame.length === 0 || !isBatchRead);
    const isOptional = isRefused || isDeep(frame, certainDepth) || countMembers(frame) > certainMembers;
    if (isRefused) this.unreadable += 1;
    for (const member of members) {
      if (isObject(member)) this.#noteMessage(member, isOptional);
      else if (!isOptional) this.unreadable += 1;
    }
  }

  /** Notes a message of the peer. */
  noteArrival(message: Json): void {
    if (Array.isArray(message)) return message.forEach((member) => this.noteArrival(member));
    if (!isObject(message) || 'method' in message) return;
    const { id = null } = message;
    const owed = this.#owed.get(JSON.stringify(id));
    if (id === null) this.withoutId += 1;
    else if (owed === undefined || owed.came >= owed.most) this.strays.push(JSON.stringify(message).slice(0, 300));
    else {
      this.came += 1;
      this.#note(id, { ...owed, came: owed.came + 1 });
    }
  }

  #noteMessage(message: JsonObject, isOptional: boolean): void {
    const { method, id, params } = message;
    // A request that is cancelled while it runs gets no response.
    if (method === 'notifications/cancelled' && isObject(params) && isReadableId(params['requestId'])) {
      const owed = this.#owed.get(JSON.stringify(params['requestId']));
      if (owed !== undefined) this.#note(params['requestId'], { ...owed, least: Math.min(owed.least, owed.came) });
    }
    const isResponse = method === undefined && (Object.hasOwn(message, 'result') || Object.hasOwn(message, 'error'));
    if (isResponse || !isReadableId(id)) return;
    const { most, least, came } = this.#owed.get(JSON.stringify(id)) ?? { most: 0, least: 0, came: 0 };
    // A subscription stays open: its response comes when it ends, or never on a connection that is cut.
    this.#note(id, { most: most + 1, least: isOptional || method === 'subscriptions/listen' ? least : least + 1, came });
  }

  #note(id: Json, owed: Owed): void {
    const key = JSON.stringify(id);
    this.#owed.set(key, owed);
    if (owed.came < owed.least) this.unanswered.add(key);
    else this.unanswered.delete(key);
  }
}

const isObject = (value: Json | undefined): value is JsonObject => value !== null && typeof value === 'object' && !Array.isArray(value);

const isDeep = (value: Json, levels: number): boolean =>
  value !== null && typeof value === 'object' && (levels === 0 || Object.values(value).some((member) => isDeep(member, levels - 1)));

/** Names count as values. */
function countMembers(value: Json): number {
  if (value === null || typeof value !== 'object') return 0;
  const members: readonly Json[] = Object.values(value);
  return members.reduce<number>((count, member) => count + countMembers(member), Array.isArray(value) ? 0 : members.length);
}

function isReadableId(id: Json | undefined): id is string | number {
  return typeof id === 'string' ? id.length <= maxIdLength : typeof id === 'number' && Number.isSafeInteger(id);
}
