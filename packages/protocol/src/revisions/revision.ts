/**
 * A revision of the protocol as a value: everything in which revisions differ. The rest of the code reads these facts by name and
 * never compares versions.
 */

import type { JsonObject } from '@mortise/jsonrpc-core';

/** `legacy` revisions begin a session with `initialize`. `modern` revisions send version and capabilities in each request's `_meta`. */
export type Era = 'legacy' | 'modern';

/** Which side may send a method. `embedded`: not sent as a request, only as an entry of an `input_required` result. */
export type Direction = 'client-to-server' | 'server-to-client' | 'both' | 'embedded';

/** The facts of one request or notification in a revision. */
export interface MethodFacts {
  readonly direction: Direction;
  /** The server capability that a method from the client needs (`tools`, `resources.subscribe`), if any. */
  readonly serverCapability?: string;
  /** The client capability that a method from the server needs (`sampling`, `elicitation.url`), if any. */
  readonly clientCapability?: string;
  /** The result may be `input_required`. */
  readonly inputRequired?: true;
  /** The complete result has `ttlMs` and `cacheScope`. */
  readonly cacheable?: true;
  /** The method returns a list in pages, by `cursor` and `nextCursor`. */
  readonly paged?: true;
  /** The parameter that HTTP also sends in the `Mcp-Name` header. */
  readonly nameParam?: string;
  /** HTTP mirrors arguments in `Mcp-Param-*`: `marked` by the schemas in this method's result, `sent` with this method. */
  readonly paramHeaders?: 'marked' | 'sent';
  /** Its response stays open, and notifications come before the result that ends it. */
  readonly listens?: true;
  /** Changes what a session remembers and nothing else, so that serving it again does no harm. */
  readonly changesSession?: true;
}

/** The facts that differ between revisions, except methods, types and HTTP. */
export interface Rules {
  /** Whether JSON-RPC batches (arrays of messages) are allowed. */
  readonly batching: boolean;
  /** Whether the error response to an unreadable request has no `id`. If false, its `id` is `null`. */
  readonly errorIdOptional: boolean;
  /** Whether results have `resultType`. */
  readonly resultType: boolean;
  /** The error code for "resource not found". */
  readonly resourceNotFoundCode: number;
  /** Whether invalid tool arguments lead to an `isError` result. If false, to a -32602 error. */
  readonly invalidArgumentsAreResults: boolean;
  /** The allowed type of `structuredContent`. */
  readonly structuredContent: 'none' | 'object' | 'any';
  /** The content block types that exist. */
  readonly contentTypes: ReadonlySet<string>;
  /** Whether a sampling message's content may be an array and contain tool blocks. */
  readonly samplingArrays: boolean;
  /** Whether progress notifications have a `message`. */
  readonly progressMessage: boolean;
  /** Whether completion requests have a `context`. */
  readonly completionContext: boolean;
  /** Whether the `completions` capability exists. */
  readonly completionsCapability: boolean;
  /** How a client sets the log level: for the session (`logging/setLevel`), or in each request's `_meta`. */
  readonly logLevel: 'session' | 'request';
  /** The elicitation modes that exist. */
  readonly elicitation: 'none' | 'form' | 'form-and-url';
  /** Whether URL elicitation has `elicitationId`, -32042 errors and a completion notification. */
  readonly elicitationIds: boolean;
  /** Whether tasks are part of the core protocol. */
  readonly coreTasks: boolean;
  /** Whether `capabilities.extensions` exists. */
  readonly extensions: boolean;
  /** The JSON Schema dialect of a schema without `$schema`; undefined if the revision does not define one. */
  readonly defaultDialect: string | undefined;
  /** Whether types such as tools, resources and content have `_meta`, in addition to params and results. */
  readonly metaOnTypes: boolean;
  /** The label of a `_meta` prefix that reserves the prefix if it is `mcp`: none, any label but the last, or the second. */
  readonly reservedMetaLabel: 'none' | 'any-but-last' | 'second';
  /** Whether servers send list changes unsolicited, or only on `subscriptions/listen`. */
  readonly changeNotifications: 'unsolicited' | 'listen';
}

/** The HTTP transport of a revision. */
export interface HttpRules {
  /** Two endpoints with an `endpoint` event (HTTP+SSE), or one endpoint (Streamable HTTP). */
  readonly endpoints: 'sse-pair' | 'single';
  /** Whether sessions and `Mcp-Session-Id` exist. */
  readonly sessions: boolean;
  /** Whether clients can open a standalone GET stream. */
  readonly getStream: boolean;
  /** Whether clients can resume streams by `Last-Event-ID`. */
  readonly resumable: boolean;
  /** Whether a server may close a stream before the response and let the client poll (priming event, `retry`). */
  readonly polling: boolean;
  /** Whether a closed connection cancels its request. */
  readonly disconnectCancels: boolean;
  /** When clients send `MCP-Protocol-Version`: never, after `initialize`, or on every request. */
  readonly versionHeader: 'never' | 'after-initialize' | 'always';
  /** Whether the headers `Mcp-Method`, `Mcp-Name` and `Mcp-Param-*` repeat values of the body. */
  readonly mirrorHeaders: boolean;
  /** The HTTP status of a JSON-RPC error by code; 200 for other codes. */
  readonly statusByCode: ReadonlyMap<number, number>;
  /** The HTTP status of a -32602 error for a missing mandatory member of `_meta`. Other -32602 errors have 200. */
  readonly missingMetaStatus: number;
}

/**
 * Converts one value between a revision's form and the canonical model. Pure. Returns its argument if nothing differs, and keeps
 * unknown members.
 *
 * @throws {UnrepresentableError} `ERR_NOT_REPRESENTABLE`: the revision has no form for the value, and dropping it would change its meaning.
 */
export type Convert = (value: JsonObject) => JsonObject;

/** The conversions in one direction, by method. A method that is not in a table needs no conversion. */
export interface Conversions {
  readonly params: ReadonlyMap<string, Convert>;
  readonly results: ReadonlyMap<string, Convert>;
  readonly notifications: ReadonlyMap<string, Convert>;
}

/** One revision of the Model Context Protocol. */
export interface Revision {
  /** The version string, to show and send. Compare facts, not versions. */
  readonly version: string;
  /** Gives the version, for texts that name a revision. */
  toString(): string;
  readonly era: Era;
  /** The requests that exist, by method. Other methods are a -32601 error. */
  readonly requests: ReadonlyMap<string, MethodFacts>;
  /** The notifications that exist, by method. */
  readonly notifications: ReadonlyMap<string, MethodFacts>;
  /**
   * The client capabilities that exist, dotted if nested (`sampling.tools`). A capability that only another revision has is dropped
   * on sending; a capability that no revision has is kept.
   */
  readonly clientCapabilities: ReadonlySet<string>;
  /** The server capabilities that exist, dotted if nested (`resources.subscribe`). Others are treated as for `clientCapabilities`. */
  readonly serverCapabilities: ReadonlySet<string>;
  /** The capabilities that other revisions have and this one does not. */
  readonly foreignCapabilities: Readonly<Record<'client' | 'server', ReadonlySet<string>>>;
  /** MCP's own error codes in this revision, by name. */
  readonly errorCodes: ReadonlyMap<string, number>;
  readonly rules: Rules;
  readonly http: HttpRules;
  /** Converts from the canonical model to this revision: drops or reshapes what the revision does not have. */
  readonly toWire: Conversions;
  /** Converts from this revision to the canonical model. */
  readonly fromWire: Conversions;
}

/**
 * One line of a revision's change log, for `docs/revisions.md`. The logs are not part of `Revision`, so that bundlers drop them from
 * programs.
 */
export interface RevisionChange {
  readonly what: string;
  /** The page and anchor of the specification. */
  readonly see: string;
}
