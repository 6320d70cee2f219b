/** Makes the request of a call: its arguments become the path, query, headers and body that the document describes. */

import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { ToolError } from '@mortise/server';
import type { ApiBody } from './read-body.ts';
import type { ApiOperation, ApiParameter } from './read-operations.ts';

export interface ApiRequest {
  readonly url: URL;
  readonly headers: Headers;
  readonly body: string | FormData | undefined;
}

type Arguments = Readonly<Record<string, unknown>>;

/**
 * Returns the request of a call.
 *
 * @param baseUrl Where the API is. The operation's path is appended to it; arguments cannot lead out of it.
 * @throws {ToolError} An argument cannot be sent.
 */
export function buildRequest(baseUrl: URL, { path, parameters, body }: ApiOperation, args: Arguments): ApiRequest {
  const url = new URL(baseUrl);
  const headers = new Headers({ accept: 'application/json, */*;q=0.5' });
  const values = new Map<string, string>();
  for (const parameter of parameters) {
    const value = argumentOf(args, parameter.argument);
    if (value === undefined) continue;
    if (parameter.in === 'query') for (const [name, text] of toQuery(parameter, value)) url.searchParams.append(name, text);
    else if (parameter.in === 'path') values.set(parameter.name, toSimple(parameter, value, encodeText));
    else setHeader(headers, parameter.name, toSimple(parameter, value, String));
  }
  url.pathname = baseUrl.pathname.replace(/\/$/u, '') + expandPath(path, values);
  const sent = argumentOf(args, 'body');
  if (!body || sent === undefined) return { url, headers, body: undefined };
  // `fetch` adds the boundary of a form with files.
  if (body.kind !== 'multipart') headers.set('content-type', body.mediaType);
  return { url, headers, body: toBody(body, sent) };
}

/** A parameter may be called `constructor`. */
function argumentOf(args: Arguments, name: string): unknown {
  return Object.hasOwn(args, name) ? args[name] : undefined;
}

/** @throws {ToolError} A value would lead to another path of the API. */
function expandPath(path: string, values: ReadonlyMap<string, string>): string {
  const expanded = path.replaceAll(/\{([^{}]+)\}/gu, (_, name: string) => {
    const value = values.get(name);
    if (!value) throw new ToolError(`the argument "${name}" is a part of the path and must not be empty`);
    return value;
  });
  // A URL with such a segment means the path above it, also when the dots are encoded.
  if (expanded.split('/').some((segment) => /^(?:\.|%2e){1,2}$/iu.test(segment)))
    throw new ToolError('an argument that is a part of the path must not be "." or ".."');
  return expanded;
}

function toQuery({ name, style, isExploded, isJson }: ApiParameter, value: unknown): readonly (readonly [string, string])[] {
  if (isJson) return [[name, JSON.stringify(value)]];
  if (style === 'deepObject' && isJsonObject(value)) return toDeep(name, value);
  if (Array.isArray(value)) {
    if (isExploded) return value.map((each) => [name, toText(each)]);
    return [[name, value.map(toText).join(style === 'spaceDelimited' ? ' ' : style === 'pipeDelimited' ? '|' : ',')]];
  }
  if (!isJsonObject(value)) return [[name, toText(value)]];
  if (isExploded) return Object.entries(value).map(([key, each]) => [key, toText(each)]);
  return [
    [
      name,
      Object.entries(value)
        .flatMap(([key, each]) => [key, toText(each)])
        .join(','),
    ],
  ];
}

/** `filter[a][b]=1`; a list repeats its name. */
function toDeep(name: string, value: unknown): readonly (readonly [string, string])[] {
  if (Array.isArray(value)) return value.map((each) => [name, toText(each)]);
  if (!isJsonObject(value)) return [[name, toText(value)]];
  return Object.entries(value).flatMap(([key, each]) => toDeep(`${name}[${key}]`, each));
}

/** The style `simple` of paths and headers: `a,b`, `key,value` or, exploded, `key=value`. */
function toSimple({ isExploded, isJson }: ApiParameter, value: unknown, encode: (text: string) => string): string {
  if (isJson) return encode(JSON.stringify(value));
  if (Array.isArray(value)) return value.map((each) => encode(toText(each))).join(',');
  if (!isJsonObject(value)) return encode(toText(value));
  const pairs = Object.entries(value).map(([key, each]) => [encode(key), encode(toText(each))]);
  return pairs.map((pair) => pair.join(isExploded ? '=' : ',')).join(',');
}

/** Half of a surrogate pair, which `encodeURIComponent` refuses, becomes U+FFFD, as in a query. */
function encodeText(text: string): string {
  return encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, '\uFFFD'));
}

function toText(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '');
}

/** @throws {ToolError} The value cannot be sent. The error of the platform quotes it, and it may be a token. */
export function setHeader(headers: Headers, name: string, value: string): void {
  try {
    headers.set(name, value);
  } catch {
    throw new ToolError(`the value of the header "${name}" has characters that a header cannot have`);
  }
}

function toBody({ kind, files }: ApiBody, value: unknown): string | FormData {
  if (kind === 'json') return JSON.stringify(value);
  if (kind === 'text') return toText(value);
  const fields = isJsonObject(value) ? Object.entries(value) : [];
  const pairs = fields.flatMap(([name, field]) =>
    Array.isArray(field) ? field.map((each) => [name, each] as const) : [[name, field] as const],
  );
  if (kind === 'form') return new URLSearchParams(pairs.map(([name, field]): [string, string] => [name, toText(field)])).toString();
  const form = new FormData();
  for (const [name, field] of pairs)
    if (files.includes(name)) form.append(name, toFile(name, field), name);
    else form.append(name, toText(field));
  return form;
}

function toFile(name: string, value: unknown): Blob {
  try {
    return new Blob([Uint8Array.from(atob(toText(value)), (character) => character.charCodeAt(0))]);
  } catch (error) {
    throw new ToolError(`the field "${name}" of the body is a file and must be in base64`, { cause: error });
  }
}
