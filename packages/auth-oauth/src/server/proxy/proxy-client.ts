/** The clients of the proxy: known from the start, registered by themselves, or known by the URL of a document. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { BoundedCache } from '../bounded-cache.ts';
import { fetchJson } from '../fetch-json.ts';
import { OAuthRefusal } from './oauth-refusal.ts';
import type { ProxySettings } from './options.ts';
import { judgeRedirectUri } from './redirect-uri.ts';

/** One client. */
export interface ProxyClient {
  readonly clientId: string;
  /** What it calls itself: nobody has checked it. */
  readonly name: string;
  readonly redirectUris: readonly string[];
  /** The digest of its secret; undefined for a public client. */
  readonly secretDigest: string | undefined;
  /** Where its document is, whose host somebody vouches for. */
  readonly documentHost: string | undefined;
}

const DAY_MS = 86_400_000;
const UNUSED_CLIENT_MS = DAY_MS;
const USED_CLIENT_MS = 365 * DAY_MS;
const MAX_DOCUMENT_BYTES = 64 * 1024;
const MAX_DOCUMENTS = 1_000;
const MAX_URIS = 20;
const MAX_NAME_LENGTH = 200;

/** Finds and keeps clients. */
export class ClientTable {
  readonly #settings: ProxySettings;
  readonly #known: ReadonlyMap<string, ProxyClient>;
  readonly #documents: BoundedCache<ProxyClient>;

  constructor(settings: ProxySettings, known: readonly ProxyClient[]) {
    this.#settings = settings;
    this.#known = new Map(known.map((client) => [client.clientId, client]));
    this.#documents = new BoundedCache(MAX_DOCUMENTS, settings.clock);
  }

  /** @returns undefined for an id that nobody has. @throws {OAuthRefusal} A document that is not there, or does not hold. */
  async find(clientId: string): Promise<ProxyClient | undefined> {
    const known = this.#known.get(clientId);
    if (known !== undefined) return known;
    if (this.#settings.clientIdMetadataDocuments && clientId.startsWith('https://')) return this.#findDocument(clientId);
    const record = await this.#settings.store.get(`client:${clientId}`);
    return record === undefined ? undefined : fromRecord(clientId, record);
  }

  /** Keeps a client that has just registered. Until somebody consents to it, it lives for a day. */
  async add(client: ProxyClient): Promise<void> {
    await this.#settings.store.put(`client:${client.clientId}`, toRecord(client), this.#settings.clock.now() + UNUSED_CLIENT_MS);
  }

  /** A person uses the client: its registration is worth keeping. */
  async keep(client: ProxyClient): Promise<void> {
    if (client.documentHost !== undefined || this.#known.has(client.clientId)) return;
    await this.#settings.store.put(`client:${client.clientId}`, toRecord(client), this.#settings.clock.now() + USED_CLIENT_MS);
  }

  async #findDocument(clientId: string): Promise<ProxyClient> {
    const kept = this.#documents.get(clientId);
    if (kept !== undefined) return kept;
    const { fetch, timeoutMs, documentPolicy = {}, privateSchemes } = this.#settings;
    if (!isDocumentUrl(clientId)) throw new OAuthRefusal('invalid_client', 'The client id is no https URL with a path of its own');
    try {
      const { value, headers } = await fetchJson(clientId, { fetch, policy: documentPolicy, maxBytes: MAX_DOCUMENT_BYTES, timeoutMs });
      const client = readDocument(clientId, value, privateSchemes);
      const maxAgeMs = readMaxAgeMs(headers);
      if (maxAgeMs > 0) this.#documents.set(clientId, client, maxAgeMs);
      return client;
    } catch (error) {
      const why = error instanceof OAuthRefusal ? error.message : 'could not be fetched';
      throw new OAuthRefusal('invalid_client', `The client's metadata document ${why}`, 400, { cause: error });
    }
  }
}

/** @see draft-ietf-oauth-client-id-metadata-document section 3 */
function isDocumentUrl(clientId: string): boolean {
  const url = URL.canParse(clientId) ? new URL(clientId) : undefined;
  if (url === undefined || clientId.includes('#') || url.username !== '' || url.password !== '') return false;
  return url.pathname !== '/' && !/\/\.\.?(?:\/|$)/.test(clientId) && clientId.length <= 2_048;
}

function readDocument(clientId: string, value: unknown, privateSchemes: readonly string[]): ProxyClient {
  if (typeof value !== 'object' || value === null) throw new OAuthRefusal('invalid_client', 'is no JSON object');
  const document = value as Readonly<Record<string, unknown>>;
  if (document['client_id'] !== clientId) throw new OAuthRefusal('invalid_client', 'names another client id');
  const method = document['token_endpoint_auth_method'] ?? 'none';
  if (method !== 'none' || 'client_secret' in document)
    throw new OAuthRefusal('invalid_client', 'asks for a way to authenticate that is not offered: use "none"');
  const name = document['client_name'];
  if (typeof name !== 'string' || name === '') throw new OAuthRefusal('invalid_client', 'has no "client_name"');
  const redirectUris = readRedirectUris(document['redirect_uris'], privateSchemes);
  return { clientId, name: name.slice(0, MAX_NAME_LENGTH), redirectUris, secretDigest: undefined, documentHost: new URL(clientId).host };
}

/** @throws {OAuthRefusal} `invalid_redirect_uri`: one that may not be, none, or too many. */
export function readRedirectUris(value: unknown, privateSchemes: readonly string[]): readonly string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_URIS)
    throw new OAuthRefusal('invalid_redirect_uri', `must list 1 to ${MAX_URIS} redirect URIs`);
  return value.map((uri: unknown) => {
    const why = typeof uri === 'string' && uri.length <= 2_048 ? judgeRedirectUri(uri, privateSchemes) : 'is no text of a sensible length';
    if (typeof uri === 'string' && why === undefined) return uri;
    throw new OAuthRefusal('invalid_redirect_uri', `has a redirect URI that ${why}`);
  });
}

/** What the server of the document allows, and never more than a day. */
function readMaxAgeMs(headers: Headers): number {
  const control = headers.get('cache-control') ?? '';
  if (/\bno-(?:store|cache)\b/i.test(control)) return 0;
  const seconds = /\bmax-age=(\d{1,9})\b/i.exec(control)?.[1];
  return Math.min(seconds === undefined ? 5 * 60_000 : Number(seconds) * 1000, DAY_MS);
}

function toRecord({ name, redirectUris, secretDigest }: ProxyClient): JsonObject {
  return { name, redirectUris: [...redirectUris], ...(secretDigest === undefined ? {} : { secretDigest }) };
}

function fromRecord(clientId: string, record: JsonObject): ProxyClient {
  const { name, redirectUris, secretDigest } = record as unknown as ProxyClient;
  return { clientId, name, redirectUris, secretDigest, documentHost: undefined };
}
