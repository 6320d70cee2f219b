/**
 * Encrypts (seals) a handler's state, which the client carries to the next round. AES-256-GCM, bound to the principal, the method, the parameters and
 * an expiry time. A state that was altered, has expired or belongs to another call cannot be opened.
 */

import { type Clock, type JsonObject, ProtocolError } from '@mortise/jsonrpc-core';
import { fromBase64Url, toBase64Url, toCanonicalJson } from '@mortise/jsonrpc-core/encoding';
import { INVALID_PARAMS } from '@mortise/jsonrpc-core/messages';
import type { Principal } from '@mortise/protocol/contracts';
import type { RequestStateOptions } from '../options.ts';

/** The request that a state is bound to. */
export interface StateBinding {
  readonly principal: Principal;
  readonly method: string;
  /** Without `_meta`, `inputResponses` and `requestState`, which change with every round. */
  readonly params: JsonObject;
}

/** The version of the sealed content. Incremented when its meaning changes. */
const LAYOUT = 2;
const IV_BYTES = 12;
const REFERENCE_BYTES = 24;
/** The longest `requestState` sent to a client, in characters. */
const MAX_LENGTH = 262_144;
/** Does not say which check failed, because that would help an attacker. */
const NOT_OURS =
  'requestState does not belong to this request, or was altered: send back the requestState of the last result, with the same parameters';

/** Derived, because the type libraries of browsers and Node name this type differently. */
type SecretKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;
type Bytes = Uint8Array<ArrayBuffer>;

/** The sealed content: the state itself, or its id in the store. */
interface Sealed<State> extends JsonObject {
  readonly expiresAtMs: number;
  readonly state?: State & JsonObject;
  readonly stored?: string;
}

/** Seals and opens request states. @see 2026-07-28 basic/patterns/mrtr#server-requirements-basic-workflow */
export class RequestStates<State> {
  readonly #options: RequestStateOptions;
  readonly #clock: Clock;
  #keys: Promise<readonly SecretKey[]> | undefined;

  constructor(options: RequestStateOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
  }

  /** True if this process generated the key, so that no other process can open its states. */
  get hasOwnKey(): boolean {
    return !this.#options.keys?.length;
  }

  /** @returns The sealed text, or its length if it is too long and there is no store. */
  async seal(state: State & JsonObject, binding: StateBinding): Promise<string | number> {
    const { ttlMs = 600_000, store } = this.#options;
    const expiresAtMs = this.#clock.now() + ttlMs;
    const whole = await this.#encrypt({ expiresAtMs, state }, binding);
    if (whole.length <= MAX_LENGTH) return whole;
    if (!store) return whole.length;
    const stored = toBase64Url(crypto.getRandomValues(new Uint8Array(REFERENCE_BYTES)));
    await store.put(stored, whole, expiresAtMs);
    return this.#encrypt({ expiresAtMs, stored }, binding);
  }

  /** @throws {ProtocolError} -32602: the state is altered, expired, bound to another principal, method or parameters, or no longer stored. */
  async open(text: string, binding: StateBinding): Promise<{ readonly state: State; readonly expiresAtMs: number }> {
    // This server never sends a longer state.
    if (text.length > MAX_LENGTH) throw refusal(NOT_OURS);
    const sealed = await this.#decrypt(text, binding);
    const { expiresAtMs, stored } = sealed;
    const whole = stored === undefined ? undefined : await this.#options.store?.get(stored);
    const { state } = whole === undefined ? sealed : await this.#decrypt(whole, binding);
    if (!state) throw refusal('requestState is no longer stored: send the request again without it');
    return { state, expiresAtMs };
  }

  async #encrypt(sealed: Sealed<State>, binding: StateBinding): Promise<string> {
    const [key] = (await this.#loadKeys()) as readonly [SecretKey];
    const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
    const plain = new TextEncoder().encode(JSON.stringify(sealed));
    const secret = await crypto.subtle.encrypt({ name: 'AES-GCM', iv, additionalData: await toBytes(binding) }, key, plain);
    const bytes = new Uint8Array(IV_BYTES + secret.byteLength);
    bytes.set(iv);
    bytes.set(new Uint8Array(secret), IV_BYTES);
    return toBase64Url(bytes);
  }

  async #decrypt(text: string, binding: StateBinding): Promise<Sealed<State>> {
    const bytes = fromBase64Url(text);
    if (!bytes || bytes.length <= IV_BYTES) throw refusal(NOT_OURS);
    const additionalData = await toBytes(binding);
    for (const key of await this.#loadKeys()) {
      const plain = await tryDecrypt(key, bytes, additionalData);
      if (!plain) continue;
      const sealed = JSON.parse(new TextDecoder().decode(plain)) as Sealed<State>;
      if (sealed.expiresAtMs > this.#clock.now()) return sealed;
      throw refusal('requestState has expired: send the request again without it');
    }
    throw refusal(NOT_OURS);
  }

  #loadKeys(): Promise<readonly SecretKey[]> {
    return (this.#keys ??= importKeys(this.#options.keys));
  }
}

/** @param given @default one random key, with which no other process can open what this one seals */
function importKeys(given: readonly Uint8Array[] | undefined): Promise<readonly SecretKey[]> {
  const keys = given?.length ? given : [crypto.getRandomValues(new Uint8Array(32))];
  return Promise.all(keys.map((bytes) => crypto.subtle.importKey('raw', new Uint8Array(bytes), 'AES-GCM', false, ['encrypt', 'decrypt'])));
}

export function refusal(message: string): ProtocolError {
  return new ProtocolError(INVALID_PARAMS, message);
}

async function tryDecrypt(key: SecretKey, bytes: Bytes, additionalData: Bytes): Promise<ArrayBuffer | undefined> {
  try {
    return await crypto.subtle.decrypt({ name: 'AES-GCM', iv: bytes.subarray(0, IV_BYTES), additionalData }, key, bytes.subarray(IV_BYTES));
  } catch {
    return undefined;
  }
}

/** Encodes the binding as JSON, so that its parts cannot run into each other. */
async function toBytes({ principal, method, params }: StateBinding): Promise<Bytes> {
  const { _meta, inputResponses, requestState, ...salient } = params;
  // Arguments may be megabytes. WebCrypto digests them off this thread.
  return new TextEncoder().encode(JSON.stringify([LAYOUT, principal, method, await digest(toCanonicalJson(salient))]));
}

/** SHA-256 as base64url. */
export async function digest(text: string): Promise<string> {
  return toBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))));
}
