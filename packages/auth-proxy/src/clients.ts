/** The clients of the proxy: from the options, from dynamic registration, or from a client metadata document. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { checkUrl } from '@mortise/protocol/edge';
import { OAuthRefusal } from './errors.ts';
import { fetchBounded } from './http.ts';
import type { KnownClient, ProxySettings } from './options.ts';
import { readRedirectUris } from './registration.ts';
import { digest } from './secrets.ts';

/** One client of the proxy. */
export interface ProxyClient {
  readonly clientId: string;
  /** The name that the client gave itself. Not verified. */
  readonly name: string;
  readonly redirectUris: readonly string[];
  /** The digest of the client's secret; undefined for a public client. */
  readonly secretDigest?: string | undefined;
  /** The host of the client metadata document, if the client has one. */
  readonly documentHost?: string | undefined;
}

const DAY_MS = 86_400_000;
const UNUSED_CLIENT_MS = DAY_MS;
const USED_CLIENT_MS = 365 * DAY_MS;
const MAX_DOCUMENT_BYTES = 64 * 1024;
const MAX_NAME_LENGTH = 200;

/** Finds and stores the clients of the proxy. */
export class ClientTable {
  readonly #settings: ProxySettings;
  readonly #known: ReadonlyMap<string, ProxyClient>;

  constructor(settings: ProxySettings, known: readonly ProxyClient[]) {
    this.#settings = settings;
    this.#known = new Map(known.map((client) => [client.clientId, client]));
  }

  /** Finds a client. @returns undefined for an unknown id. @throws {OAuthRefusal} The client's metadata document is missing or invalid. */
  async find(clientId: string): Promise<ProxyClient | undefined> {
    const { registration, store } = this.#settings;
    const known = this.#known.get(clientId);
    if (known !== undefined || !registration) return known;
    if (clientId.startsWith('https://')) return await this.#findDocument(clientId);
    return (await store.get(`client:${clientId}`)) as unknown as ProxyClient | undefined;
  }

  /** Stores a newly registered client for a day. `keep` extends that after a sign-in. */
  async add(client: ProxyClient): Promise<void> {
    await this.#put('client', client.clientId, client, UNUSED_CLIENT_MS);
  }

  /** Stores a client for a year from now, after a user has signed in with it. */
  async keep(client: ProxyClient): Promise<void> {
    if (client.documentHost !== undefined || this.#known.has(client.clientId)) return;
    await this.#put('client', client.clientId, client, USED_CLIENT_MS);
  }

  async #put(kind: string, id: string, client: ProxyClient, lifeMs: number): Promise<void> {
    const { store, clock } = this.#settings;
    await store.put(`${kind}:${id}`, JSON.parse(JSON.stringify(client)) as JsonObject, clock.now() + lifeMs);
  }

  async #findDocument(clientId: string): Promise<ProxyClient> {
    if (!isDocumentUrl(clientId)) throw new OAuthRefusal('invalid_client', 'The client id must be an https URL with a path');
    const id = await digest(clientId);
    const kept = (await this.#settings.store.get(`document:${id}`)) as unknown as ProxyClient | undefined;
    if (kept !== undefined) return kept;
    const { value, maxAgeMs } = await fetchDocument(clientId, this.#settings.fetch);
    const client = readDocument(clientId, value, this.#settings.privateSchemes);
    if (maxAgeMs > 0) await this.#put('document', id, client, maxAgeMs);
    return client;
  }
}

/** Converts a client of the option `clients`: a digest takes the place of its secret. */
export async function toProxyClient({ clientId, name, redirectUris, clientSecret }: KnownClient): Promise<ProxyClient> {
  return { clientId, name, redirectUris, secretDigest: clientSecret === undefined ? undefined : await digest(clientSecret) };
}

/** Tells whether a client id may be the URL of a metadata document. @see draft-ietf-oauth-client-id-metadata-document section 3 */
function isDocumentUrl(clientId: string): boolean {
  const url = URL.canParse(clientId) ? new URL(clientId) : undefined;
  if (url === undefined || clientId.includes('#') || url.username !== '' || url.password !== '') return false;
  return url.pathname !== '/' && !/\/\.\.?(?:\/|$)/.test(clientId) && clientId.length <= 2_048;
}

/** Fetches a client metadata document. @throws {OAuthRefusal} It is at a private address, cannot be fetched, or is not JSON. */
async function fetchDocument(url: string, fetch: typeof globalThis.fetch): Promise<{ readonly value: unknown; readonly maxAgeMs: number }> {
  const why = checkUrl(url);
  if (why !== undefined) throw new OAuthRefusal('invalid_client', `The client's metadata document must not be fetched: ${why}`);
  try {
    const answer = await fetchBounded(url, { headers: { accept: 'application/json' } }, { fetch, maxBytes: MAX_DOCUMENT_BYTES });
    const { status, headers } = answer;
    if (status !== 200) throw new Error(`The metadata document came with the HTTP status ${status}, not 200`);
    if (!/^application\/(?:[\w.+-]+\+)?json(?:\s*;|$)/i.test(headers.get('content-type') ?? ''))
      throw new Error('The metadata document is not JSON');
    return { value: await answer.json(), maxAgeMs: readMaxAgeMs(headers) };
  } catch (cause) {
    throw new OAuthRefusal('invalid_client', "The client's metadata document could not be fetched as JSON", { cause });
  }
}

/** Gives how long a client metadata document may be cached, by its response headers: at most one day. */
function readMaxAgeMs(headers: Headers): number {
  const control = headers.get('cache-control') ?? '';
  if (/\bno-(?:store|cache)\b/i.test(control)) return 0;
  const seconds = /\bmax-age=(\d{1,9})\b/i.exec(control)?.[1];
  return Math.min(seconds === undefined ? 5 * 60_000 : Number(seconds) * 1000, DAY_MS);
}

function readDocument(clientId: string, value: unknown, privateSchemes: readonly string[]): ProxyClient {
  const document = (typeof value === 'object' && value !== null ? value : {}) as Readonly<Record<string, unknown>>;
  const { client_id: id, client_name: name, token_endpoint_auth_method: method = 'none' } = document;
  if (id !== clientId) throw refuseDocument('has another "client_id" than its URL');
  if (method !== 'none' || 'client_secret' in document)
    throw refuseDocument('must have the "token_endpoint_auth_method" "none" and no secret');
  if (typeof name !== 'string' || name === '') throw refuseDocument('has no "client_name"');
  const redirectUris = readRedirectUris(document['redirect_uris'], "The client's metadata document", privateSchemes);
  return { clientId, name: name.slice(0, MAX_NAME_LENGTH), redirectUris, documentHost: new URL(clientId).host };
}

function refuseDocument(why: string): OAuthRefusal {
  return new OAuthRefusal('invalid_client', `The client's metadata document ${why}`);
}
