/** `Dialogue`: requests of one era over one wire, as a client of that era sends them. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { NEWEST, NEWEST_LEGACY } from '@mortise/protocol';
import { META_CLIENT_CAPABILITIES, META_CLIENT_INFO, META_PROTOCOL_VERSION } from '@mortise/protocol/wire';
import type { Reply, Wire } from './wire.ts';

export type EraName = 'modern' | 'legacy';

const CLIENT = { name: 'mortise-doctor', version: '1.0.0' };
/** The most pages of one list that are read. */
const MAX_PAGES = 100;

/** All pages of one list. */
export interface Listed {
  readonly items: readonly JsonObject[];
  /** What is wrong with how the server pages. */
  readonly fault: string | undefined;
}

export class Dialogue {
  readonly era: EraName;
  readonly wire: Wire;
  /** The revision that the server speaks in this era. */
  version: string;
  /** The result of `server/discover` or `initialize`. */
  opening: JsonObject = {};
  readonly #lists = new Map<string, Promise<Listed>>();
  /** Answers that are no JSON-RPC responses, in words. */
  readonly malformed: string[] = [];
  #lastId = 0;

  constructor(era: EraName, wire: Wire, version: string) {
    this.era = era;
    this.wire = wire;
    this.version = version;
  }

  /** Opens the server in one era. @returns undefined if it does not speak that era. */
  static async open(era: EraName, wire: Wire): Promise<Dialogue | undefined> {
    const { version } = era === 'modern' ? NEWEST : NEWEST_LEGACY;
    const dialogue = new Dialogue(era, wire, version);
    const reply = era === 'modern' ? await dialogue.ask('server/discover') : await dialogue.ask('initialize', toInitialize(version));
    const opening = reply.message?.['result'];
    if (!isJsonObject(opening)) return undefined;
    dialogue.opening = opening;
    dialogue.version = era === 'modern' ? pickVersion(opening, version) : String(opening['protocolVersion'] ?? version);
    if (era === 'legacy') await wire.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return dialogue;
  }

  get capabilities(): JsonObject {
    const { capabilities } = this.opening;
    return isJsonObject(capabilities) ? capabilities : {};
  }

  /** Sends a request of this era. */
  async ask(method: string, params: JsonObject = {}, id: string | number = ++this.#lastId + 1000): Promise<Reply> {
    const reply = await this.wire.send({ jsonrpc: '2.0', id, method, params: this.withMeta(params) });
    this.#inspect(method, reply.message);
    return reply;
  }

  /** Params as this era wants them: in the modern one with `_meta`. */
  withMeta(params: JsonObject, version: string = this.version): JsonObject {
    if (this.era === 'legacy') return params;
    const meta = { [META_PROTOCOL_VERSION]: version, [META_CLIENT_INFO]: CLIENT, [META_CLIENT_CAPABILITIES]: {} };
    return { ...params, _meta: meta };
  }

  /** Reads all pages of a list, once. @param member The member of the result that has the items. */
  list(method: string, member: string): Promise<Listed> {
    const known = this.#lists.get(method);
    if (known) return known;
    const listed = this.#readPages(method, member);
    this.#lists.set(method, listed);
    return listed;
  }

  async #readPages(method: string, member: string): Promise<Listed> {
    const items: JsonObject[] = [];
    const cursors = new Set<JsonValue>();
    for (let cursor: JsonValue | undefined; cursors.size < MAX_PAGES;) {
      const { message } = await this.ask(method, cursor === undefined ? {} : { cursor });
      const result = message?.['result'];
      if (!isJsonObject(result)) return { items, fault: `${method} was not answered with a result` };
      const page = result[member];
      if (!Array.isArray(page)) return { items, fault: `the result of ${method} has no array "${member}"` };
      cursor = result['nextCursor'];
      if (cursor !== undefined && cursor !== null && cursors.has(cursor))
        return { items, fault: `${method} gave the same nextCursor twice, so its pages never end` };
      items.push(...page.filter(isJsonObject));
      if (cursor === undefined || cursor === null) return { items, fault: undefined };
      cursors.add(cursor);
    }
    return { items, fault: `${method} has more than ${MAX_PAGES} pages` };
  }

  #inspect(method: string, message: JsonObject | undefined): void {
    if (message === undefined) return;
    const { jsonrpc, result, error } = message as { jsonrpc?: unknown; result?: unknown; error?: { code?: unknown; message?: unknown } };
    if (jsonrpc !== '2.0') this.malformed.push(`the answer to ${method} has no "jsonrpc": "2.0"`);
    if ((result === undefined) === (error === undefined))
      this.malformed.push(`the answer to ${method} has not exactly one of result and error`);
    else if (error && (!Number.isInteger(error.code) || typeof error.message !== 'string'))
      this.malformed.push(`the error of ${method} has no integer "code" or no "message"`);
    else if (!error && !isJsonObject(result)) this.malformed.push(`the result of ${method} is not an object`);
  }
}

export const toInitialize = (protocolVersion: string): JsonObject => ({ protocolVersion, capabilities: {}, clientInfo: CLIENT });

function pickVersion({ supportedVersions }: JsonObject, wanted: string): string {
  const versions = Array.isArray(supportedVersions) ? supportedVersions : [];
  return versions.includes(wanted) ? wanted : String(versions[0] ?? wanted);
}
