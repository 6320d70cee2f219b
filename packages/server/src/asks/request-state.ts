/**
 * Seals what a handler learnt in one round, so that the client can carry it to the next: AES-256-GCM, bound to the principal,
 * the method, the parameters and a time. A sealed state that was altered, is too old or was made for another call does not open.
 */

import type { Clock, JsonObject } from '@mortise/jsonrpc-core';
import { fromBase64Url, toBase64Url, toCanonicalJson } from '@mortise/jsonrpc-core/encoding';
import type { Principal } from '@mortise/protocol/contracts';
import { AskError, RequestStateError } from '../errors.ts';
import type { RequestStateOptions } from '../options.ts';

/** What a state is sealed to. */
export interface StateBinding {
  readonly principal: Principal;
  readonly method: string;
  /** The request's parameters. `_meta`, `inputResponses` and `requestState` do not count: they change with every round. */
  readonly params: JsonObject;
}

/** What a seal held. */
export interface OpenedState {
  readonly state: JsonObject;
  /** Until when the state may be used, in milliseconds since the epoch. */
  readonly expiresAtMs: number;
}

const LAYOUT = 1;
const KEY_ID_BYTES = 4;
const IV_BYTES = 12;
const HEADER_BYTES = 1 + KEY_ID_BYTES + IV_BYTES;
const REFERENCE_BYTES = 24;

/** Named so that no library of types is needed: browsers' and Node's differ. */
type SecretKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;
type Bytes = Uint8Array<ArrayBuffer>;

interface SealingKey {
  readonly id: Uint8Array;
  readonly key: SecretKey;
}

/** What is inside the seal: the state itself, or where it lies. */
interface Sealed extends JsonObject {
  readonly expiresAtMs: number;
  readonly state?: JsonObject;
  readonly stored?: string;
}

/** Seals and opens request states. @see 2026-07-28 basic/patterns/mrtr#server-requirements-basic-workflow */
export class RequestStates {
  readonly #options: RequestStateOptions;
  readonly #clock: Clock;
  #keys: Promise<readonly SealingKey[]> | undefined;

  constructor(options: RequestStateOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
  }

  /** True where the key was made up here, so that no other process can open what this one sealed. */
  get hasOwnKey(): boolean {
    return !this.#options.keys?.length;
  }

  get #maxStateBytes(): number {
    return this.#options.maxStateBytes ?? 262_144;
  }

  /** @throws {AskError} `ERR_STATE_TOO_LARGE`: it is longer than `maxStateBytes` and there is no store. */
  async seal(state: JsonObject, binding: StateBinding): Promise<string> {
    const { ttlMs = 600_000, store } = this.#options;
    const expiresAtMs = this.#clock.now() + ttlMs;
    const whole = await this.#encrypt({ expiresAtMs, state }, binding);
    if (whole.length <= this.#maxStateBytes) return whole;
    if (!store) throw new AskError('ERR_STATE_TOO_LARGE', describeSize(state, whole.length, this.#maxStateBytes));
    const stored = toBase64Url(crypto.getRandomValues(new Uint8Array(REFERENCE_BYTES)));
    await store.put(stored, whole, expiresAtMs);
    return this.#encrypt({ expiresAtMs, stored }, binding);
  }

  /** @throws {RequestStateError} Altered, expired, made for another principal, method or parameters, or no longer kept. */
  async open(text: string, binding: StateBinding): Promise<OpenedState> {
    // What is longer was never handed out, so it need not be read. A reference is always shorter than this.
    if (text.length > Math.max(this.#maxStateBytes, 1024)) throw new RequestStateError(NOT_OURS);
    const { expiresAtMs, state, stored } = await this.#decrypt(text, binding);
    if (state) return { state, expiresAtMs };
    const whole = stored === undefined ? undefined : await this.#options.store?.get(stored);
    if (whole === undefined) throw new RequestStateError('requestState refers to something that is no longer kept: start the request anew');
    return { state: (await this.#decrypt(whole, binding)).state ?? {}, expiresAtMs };
  }

  async #encrypt(sealed: Sealed, binding: StateBinding): Promise<string> {
    const [first] = await this.#loadKeys();
    if (!first) throw new RequestStateError(NOT_OURS);
    const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
    const plain = new TextEncoder().encode(JSON.stringify(sealed));
    const secret = await crypto.subtle.encrypt({ name: 'AES-GCM', iv, additionalData: await toBytes(binding) }, first.key, plain);
    const bytes = new Uint8Array(HEADER_BYTES + secret.byteLength);
    bytes[0] = LAYOUT;
    bytes.set(first.id, 1);
    bytes.set(iv, 1 + KEY_ID_BYTES);
    bytes.set(new Uint8Array(secret), HEADER_BYTES);
    return toBase64Url(bytes);
  }

  async #decrypt(text: string, binding: StateBinding): Promise<Sealed> {
    const bytes = fromBase64Url(text);
    if (!bytes || bytes.length <= HEADER_BYTES || bytes[0] !== LAYOUT) throw new RequestStateError(NOT_OURS);
    const keyId = bytes.subarray(1, 1 + KEY_ID_BYTES);
    const candidates = (await this.#loadKeys()).filter(({ id }) => id.every((byte, index) => byte === keyId[index]));
    // Before anything is computed from parameters that may be large.
    if (candidates.length === 0) throw new RequestStateError(NOT_OURS);
    const additionalData = await toBytes(binding);
    for (const { key } of candidates) {
      const plain = await tryDecrypt(key, bytes, additionalData);
      if (plain) return this.#checkExpiry(JSON.parse(new TextDecoder().decode(plain)) as Sealed);
    }
    throw new RequestStateError(NOT_OURS);
  }

  #checkExpiry(sealed: Sealed): Sealed {
    if (sealed.expiresAtMs > this.#clock.now()) return sealed;
    throw new RequestStateError('requestState has expired: start the request anew');
  }

  #loadKeys(): Promise<readonly SealingKey[]> {
    const { keys } = this.#options;
    const raw = keys?.length ? keys : [crypto.getRandomValues(new Uint8Array(32))];
    return (this.#keys ??= Promise.all(raw.map(importKey)));
  }
}

/** Which of the reasons it was is not told: it would help to forge one. */
const NOT_OURS = 'requestState was not made for this request, or was altered: send back what the last result had, with the same parameters';

async function importKey(raw: Uint8Array): Promise<SealingKey> {
  const bytes = new Uint8Array(raw);
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return { id: hash.slice(0, KEY_ID_BYTES), key: await crypto.subtle.importKey('raw', bytes, 'AES-GCM', false, ['encrypt', 'decrypt']) };
}

async function tryDecrypt(key: SecretKey, bytes: Bytes, additionalData: Bytes): Promise<ArrayBuffer | undefined> {
  const iv = bytes.subarray(1 + KEY_ID_BYTES, HEADER_BYTES);
  try {
    return await crypto.subtle.decrypt({ name: 'AES-GCM', iv, additionalData }, key, bytes.subarray(HEADER_BYTES));
  } catch {
    return undefined;
  }
}

/** The bound facts as bytes. JSON keeps them apart: no principal can end where a method begins. */
async function toBytes({ principal, method, params }: StateBinding): Promise<Bytes> {
  const { _meta, inputResponses, requestState, ...salient } = params;
  // Arguments may be megabytes, for which WebCrypto is the faster one.
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(toCanonicalJson(salient)));
  return new TextEncoder().encode(JSON.stringify([LAYOUT, principal, method, toBase64Url(new Uint8Array(digest))]));
}

function describeSize(state: JsonObject, bytes: number, maxStateBytes: number): string {
  const steps = Object.entries((state['steps'] ?? {}) as JsonObject).map(([name, value]) => ({
    name,
    bytes: JSON.stringify(value).length,
  }));
  const [largest] = steps.sort((one, other) => other.bytes - one.bytes);
  const culprit = largest ? `; its largest step is "${largest.name.slice(0, 100)}" with ${largest.bytes} bytes` : '';
  return `requestState has ${bytes} bytes, more than maxStateBytes (${maxStateBytes})${culprit}: keep less in ctx.once, ask for less, or give requestState.store`;
}
