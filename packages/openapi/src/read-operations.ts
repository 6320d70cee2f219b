/** Reads the operations of a document: what each is called, what it takes, and where its arguments go. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { type ApiDocument, DocumentFault, type Located, type OpenApiProblem, pointTo } from './document.ts';
import { type ApiBody, type FoundBody, readBody } from './read-body.ts';
import { SchemaReader } from './schema-reader.ts';

/** Where an argument goes. */
export interface ApiParameter {
  /** The name of the tool's argument: the parameter's own, unless two places have a parameter of that name. */
  readonly argument: string;
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly style: string;
  readonly isExploded: boolean;
  /** Whether the value is sent as JSON. */
  readonly isJson: boolean;
}

/** An operation that can be a tool. */
export interface ApiOperation {
  readonly method: string;
  /** As in the document, such as `/users/{id}`. */
  readonly path: string;
  readonly pointer: string;
  readonly operationId: string | undefined;
  readonly summary: string | undefined;
  readonly description: string | undefined;
  readonly tags: readonly string[];
  readonly isDeprecated: boolean;
  readonly parameters: readonly ApiParameter[];
  readonly body: ApiBody | undefined;
  readonly inputSchema: JsonObject & { readonly type: 'object' };
}

/** What the program sets: where calls go, and parameters that it gives itself. */
export interface SetByProgram {
  readonly baseUrl: URL;
  readonly query: readonly string[];
  readonly headers: readonly string[];
}

const METHODS = new Set(['get', 'put', 'post', 'delete', 'patch']);
const OTHER_METHODS = new Set(['head', 'options', 'trace', 'query']);
/** Headers that describe the message or the connection, which are not a caller's to set. @see OpenAPI 3.1.1 section 4.8.12.2 */
const OWN_HEADERS = new Set([
  'accept',
  'content-type',
  'authorization',
  'host',
  'cookie',
  'content-length',
  'transfer-encoding',
  'connection',
]);
const STYLES: Readonly<Record<string, readonly string[]>> = {
  path: ['simple'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
};

/** Returns the operations that can be tools. @param report Called with what cannot be one, or is left out of one. */
export function readOperations(
  document: ApiDocument,
  set: SetByProgram,
  report: (problem: OpenApiProblem) => void,
): readonly ApiOperation[] {
  const paths = document.root['paths'] ?? {};
  if (!isJsonObject(paths)) throw new TypeError('createOpenApiServer: the member "paths" of the document must be an object');
  const operations: ApiOperation[] = [];
  const attempt = (read: () => void): void => {
    try {
      read();
    } catch (error) {
      if (!(error instanceof DocumentFault)) throw error;
      report({ pointer: error.pointer, message: error.message });
    }
  };
  for (const [path, given] of Object.entries(paths)) {
    if (!path.startsWith('/')) continue;
    attempt(() => {
      const item = document.resolve(given, pointTo('#/paths', path));
      for (const method of Object.keys(item.value)) {
        const pointer = pointTo(item.pointer, method);
        if (METHODS.has(method)) attempt(() => operations.push(readOperation({ document, set, report }, item, path, method)));
        else if (OTHER_METHODS.has(method)) report({ pointer, message: `${method.toUpperCase()} is not made a tool` });
      }
    });
  }
  return operations;
}

interface Reading {
  readonly document: ApiDocument;
  readonly set: SetByProgram;
  readonly report: (problem: OpenApiProblem) => void;
}

function readOperation(reading: Reading, item: Located, path: string, method: string): ApiOperation {
  const { document } = reading;
  const { value, pointer } = document.resolve(item.value[method], pointTo(item.pointer, method));
  checkServers(item, reading.set.baseUrl);
  checkServers({ value, pointer }, reading.set.baseUrl);
  const schemas = new SchemaReader(document);
  const found = readParameters(reading, schemas, item, { value, pointer });
  checkPath(path, found, pointer);
  const body = readBodyOf(reading, schemas, method, { value, pointer });
  const names = [...found.map(({ name }) => name), ...(body ? ['body'] : [])];
  const isShared = (name: string): boolean => names.indexOf(name) !== names.lastIndexOf(name);
  const taken = new Set(names);
  const toArgument = ({ in: place, name }: FoundParameter): string => {
    if (!isShared(name)) return name;
    let argument = `${place}_${name}`;
    while (taken.has(argument)) argument += '_';
    taken.add(argument);
    return argument;
  };
  const parameters = found.map((each) => ({ ...each, argument: toArgument(each) }));
  return {
    method,
    path,
    pointer,
    operationId: textOf(value['operationId']),
    summary: textOf(value['summary']) ?? textOf(item.value['summary']),
    description: textOf(value['description']) ?? textOf(item.value['description']),
    tags: Array.isArray(value['tags']) ? value['tags'].map(String) : [],
    isDeprecated: value['deprecated'] === true,
    parameters: parameters.map(({ schema: _, isRequired: __, ...parameter }) => parameter),
    body: body?.body,
    inputSchema: joinSchemas([...parameters, ...(body ? [{ ...body, argument: 'body' }] : [])], schemas.defs),
  };
}

/** Makes the schema of a tool's arguments. */
function joinSchemas(
  members: readonly { readonly argument: string; readonly schema: JsonValue; readonly isRequired: boolean }[],
  defs: JsonObject,
): ApiOperation['inputSchema'] {
  const required = members.flatMap(({ argument, isRequired }) => (isRequired ? [argument] : []));
  return {
    type: 'object',
    properties: Object.fromEntries(members.map(({ argument, schema }) => [argument, schema])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
    ...(Object.keys(defs).length > 0 && { $defs: defs }),
  };
}

function readBodyOf(
  { document, report }: Reading,
  schemas: SchemaReader,
  method: string,
  { value, pointer }: Located,
): FoundBody | undefined {
  if (value['requestBody'] === undefined) return undefined;
  const place = pointTo(pointer, 'requestBody');
  // `fetch` sends none, and servers ignore it.
  if (method === 'get') {
    report({ pointer: place, message: 'a GET has no body: the tool sends none' });
    return undefined;
  }
  const found = readBody(document, schemas, value['requestBody'], place);
  if ('body' in found) return found;
  report(found);
  return undefined;
}

type FoundParameter = Omit<ApiParameter, 'argument'> & { readonly schema: JsonValue; readonly isRequired: boolean };

/** Reads the parameters of a path and an operation: one of the operation stands for that of the path with the same name and place. */
function readParameters(reading: Reading, schemas: SchemaReader, ...owners: readonly Located[]): readonly FoundParameter[] {
  const found = new Map<string, Located>();
  for (const { value, pointer } of owners) {
    const { parameters = [] } = value;
    if (!Array.isArray(parameters)) throw new DocumentFault(pointTo(pointer, 'parameters'), 'must be a list');
    for (const [index, given] of (parameters as readonly JsonValue[]).entries()) {
      const parameter = reading.document.resolve(given, pointTo(pointer, 'parameters', index));
      found.set(`${String(parameter.value['in'])} ${String(parameter.value['name'])}`, parameter);
    }
  }
  return [...found.values()].flatMap((parameter) => readParameter(reading, schemas, parameter) ?? []);
}

function readParameter({ document, set, report }: Reading, schemas: SchemaReader, { value, pointer }: Located): FoundParameter | undefined {
  const { name, in: place, description } = value;
  if (typeof name !== 'string' || name === '') throw new DocumentFault(pointer, 'needs a name');
  const isRequired = value['required'] === true || place === 'path';
  if (place === 'header' && [...OWN_HEADERS, ...set.headers].includes(name.toLowerCase())) return undefined;
  if (place === 'query' && set.query.includes(name)) return undefined;
  if (place === 'cookie' && !isRequired) {
    report({ pointer, message: `the cookie "${name}" is not sent: set it by the option headers` });
    return undefined;
  }
  if (place !== 'path' && place !== 'query' && place !== 'header')
    throw new DocumentFault(pointer, `a required parameter in "${String(place)}" is not supported`);
  const { style = place === 'query' ? 'form' : 'simple', explode = style === 'form' } = value;
  if (typeof style !== 'string' || !STYLES[place]?.includes(style))
    throw new DocumentFault(pointer, `the style "${String(style)}" is not supported`);
  const [content] = isJsonObject(value['content']) ? Object.entries(value['content']) : [];
  const at = content ? pointTo(pointer, 'content', content[0]) : pointer;
  const holder = content ? document.resolve(content[1], at) : { value, pointer };
  const schema = holder.value['schema'] === undefined ? {} : schemas.read(holder.value['schema'], pointTo(holder.pointer, 'schema'));
  return {
    name,
    in: place,
    style,
    isExploded: explode === true,
    isJson: content !== undefined,
    isRequired,
    schema: typeof description === 'string' && isJsonObject(schema) ? { ...schema, description } : schema,
  };
}

/** @throws {DocumentFault} What is here is at other servers than the program's. */
function checkServers({ value: { servers }, pointer }: Located, baseUrl: URL): void {
  if (!Array.isArray(servers)) return;
  const urls = (servers as readonly JsonValue[]).map((server) => (isJsonObject(server) ? String(server['url']) : ''));
  const isThere = (url: string): boolean =>
    URL.canParse(url, baseUrl.href) && withoutSlash(new URL(url, baseUrl)) === withoutSlash(baseUrl);
  if (urls.some(isThere)) return;
  throw new DocumentFault(
    pointTo(pointer, 'servers'),
    `this operation is served at ${urls.join(' or ')}: create a second server with that baseUrl`,
  );
}

function withoutSlash({ href }: URL): string {
  return href.replace(/\/$/u, '');
}

/** @throws {DocumentFault} A variable of the path has no parameter. */
function checkPath(path: string, parameters: readonly FoundParameter[], pointer: string): void {
  const known = new Set(parameters.flatMap(({ in: place, name }) => (place === 'path' ? [name] : [])));
  const missing = [...path.matchAll(/\{([^{}]+)\}/gu)].find(([, name = '']) => !known.has(name));
  if (missing) throw new DocumentFault(pointer, `the path has ${missing[0]}, but there is no parameter for it`);
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
