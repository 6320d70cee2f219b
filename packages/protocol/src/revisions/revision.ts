/**
 * The type of a protocol revision: everything in which revisions differ. The rest of the code reads the members of a revision by name and
 * never compares versions.
 */

import type { JsonObject } from '@mortise/jsonrpc-core';

/** `legacy` revisions begin a session with `initialize`. `modern` revisions send version and capabilities in each request's `_meta`. */
export type Era = 'legacy' | 'modern';

/** Which side may send a method. `embedded`: it is sent only inside an `input_required` result, not as a request. */
export type Direction = 'client-to-server' | 'server-to-client' | 'both' | 'embedded';

/** The definition of one request or notification in a revision. */
export interface MethodFacts {
  readonly direction: Direction;
  /** The server capability that a method sent by the client needs (`tools`, `resources.subscribe`), if any. */
  readonly serverCapability?: string;
  /** The client capability that a method sent by the server needs (`sampling`, `elicitation.url`), if any. */
  readonly clientCapability?: string;
  /** Whether the result may be `input_required`. */
  readonly inputRequired?: true;
  /** Whether the complete result has `ttlMs` and `cacheScope`. */
  readonly cacheable?: true;
  /** Whether the method returns a list in pages, by `cursor` and `nextCursor`. */
  readonly paged?: true;
  /** The parameter whose value HTTP also sends in the `Mcp-Name` header. */
  readonly nameParam?: string;
  /** `marked`: schemas in the result mark arguments with `x-mcp-header`. `sent`: HTTP sends such arguments as `Mcp-Param-*` headers. */
  readonly paramHeaders?: 'marked' | 'sent';
  /** Whether the response stays open: notifications are sent before the result, which ends it. */
  readonly listens?: true;
  /** Whether the request changes only what a session remembers, so that handling it a second time does no harm. */
  readonly changesSession?: true;
}

/** What differs between revisions, except methods, types and HTTP. */
export interface Rules {
  /** Whether JSON-RPC batches (arrays of messages) are allowed. */
  readonly batching: boolean;
  /** Whether the error response to a request that cannot be read has no `id`. If false, its `id` is `null`. */
  readonly errorIdOptional: boolean;
  /** Whether results have a `resultType`. */
  readonly resultType: boolean;
  /** The error code for a resource that does not exist. */
  readonly resourceNotFoundCode: number;
  /** The highest error code that the specification reserves. From it down to -32099 only the revision's own codes may be sent. */
  readonly firstReservedCode: number;
  /** Whether invalid tool arguments lead to an `isError` result. If false, to a -32602 error. */
  readonly invalidArgumentsAreResults: boolean;
  /** The allowed type of `structuredContent` in tool results. */
  readonly structuredContent: 'none' | 'object' | 'any';
  /** The types of content blocks that exist in the revision. */
  readonly contentTypes: ReadonlySet<string>;
  /** Whether the content of a sampling message may be an array and contain tool blocks. */
  readonly samplingArrays: boolean;
  /** Whether progress notifications have a `message`. */
  readonly progressMessage: boolean;
  /** Whether completion requests have a `context`. */
  readonly completionContext: boolean;
  /** Whether the server capability `completions` exists in the revision. */
  readonly completionsCapability: boolean;
  /** How a client sets the log level: for the session (`logging/setLevel`), or in each request's `_meta`. */
  readonly logLevel: 'session' | 'request';
  /** The elicitation modes that exist in the revision. */
  readonly elicitation: 'none' | 'form' | 'form-and-url';
  /** Whether URL elicitation has `elicitationId`, -32042 errors and `notifications/elicitation/complete`. */
  readonly elicitationIds: boolean;
  /** Whether tasks are part of the core protocol, not an extension. */
  readonly coreTasks: boolean;
  /** Whether peers declare extensions in `capabilities.extensions`. */
  readonly extensions: boolean;
  /** The JSON Schema dialect of a schema without `$schema`; undefined if the revision does not define one. */
  readonly defaultDialect: string | undefined;
  /** Whether types such as tools, resources and content blocks have `_meta`, in addition to params and results. */
  readonly metaOnTypes: boolean;
  /** Which label of a `_meta` key's prefix makes the key reserved if it is `mcp`: none, any label but the last, or the second. */
  readonly reservedMetaLabel: 'none' | 'any-but-last' | 'second';
  /** Whether servers send notifications of list changes unsolicited, or only on `subscriptions/listen`. */
  readonly changeNotifications: 'unsolicited' | 'listen';
}

/** How a revision uses HTTP. */
export interface HttpRules {
  /** Whether HTTP has two endpoints and an `endpoint` event (HTTP+SSE), or one endpoint (Streamable HTTP). */
  readonly endpoints: 'sse-pair' | 'single';
  /** Whether HTTP has sessions, with the header `Mcp-Session-Id`. */
  readonly sessions: boolean;
  /** Whether clients can open a GET stream for messages that belong to no request. */
  readonly getStream: boolean;
  /** Whether clients can resume broken SSE streams by `Last-Event-ID`. */
  readonly resumable: boolean;
  /** Whether a server may close an SSE stream before the response and let the client poll (priming event, `retry`). */
  readonly polling: boolean;
  /** Whether closing the HTTP connection of a request cancels the request. */
  readonly disconnectCancels: boolean;
  /** When clients send the header `MCP-Protocol-Version`: never, after `initialize`, or on every request. */
  readonly versionHeader: 'never' | 'after-initialize' | 'always';
  /** Whether requests repeat values of the body in the headers `Mcp-Method`, `Mcp-Name` and `Mcp-Param-*`. */
  readonly mirrorHeaders: boolean;
  /** The HTTP status of a response with a JSON-RPC error, by error code; 200 for other codes. */
  readonly statusByCode: ReadonlyMap<number, number>;
  /** The HTTP status of a -32602 error for a missing mandatory member of `_meta`. Other -32602 errors have status 200. */
  readonly missingMetaStatus: number;
}

/**
 * Converts params or a result between a revision's form and the canonical model (the types of `@mortise/protocol/model`). Has no side
 * effects. Returns its argument if nothing differs, and keeps unknown members.
 *
 * @throws {UnrepresentableError} `ERR_NOT_REPRESENTABLE`: the revision has no form for the value, and dropping it would change its meaning.
 */
export type Convert = (value: JsonObject) => JsonObject;

/** The conversions to a revision's form, or from it, by method. A method without an entry needs no conversion. */
export interface Conversions {
  readonly params: ReadonlyMap<string, Convert>;
  readonly results: ReadonlyMap<string, Convert>;
  readonly notifications: ReadonlyMap<string, Convert>;
}

/** One revision of the Model Context Protocol. */
export interface Revision {
  /** The version string, to show and send. To decide what to do, read the other members of the revision; do not compare versions. */
  readonly version: string;
  /** Returns the version string, for texts that name a revision. */
  toString(): string;
  readonly era: Era;
  /** The requests that the revision has, by method. Other methods get a -32601 error. */
  readonly requests: ReadonlyMap<string, MethodFacts>;
  /** The notifications that the revision has, by method. */
  readonly notifications: ReadonlyMap<string, MethodFacts>;
  /**
   * The client capabilities that the revision has, dotted if nested (`sampling.tools`). A capability that only another revision has is
   * dropped on sending; a capability that no revision has is kept.
   */
  readonly clientCapabilities: ReadonlySet<string>;
  /** The server capabilities that the revision has, dotted if nested (`resources.subscribe`). Others: see `clientCapabilities`. */
  readonly serverCapabilities: ReadonlySet<string>;
  /** The capabilities that other revisions have and this revision does not. */
  readonly foreignCapabilities: Readonly<Record<'client' | 'server', ReadonlySet<string>>>;
  /** The codes of MCP's own errors in this revision, by error name. */
  readonly errorCodes: ReadonlyMap<string, number>;
  readonly rules: Rules;
  readonly http: HttpRules;
  /** Converts from the canonical model (`@mortise/protocol/model`) to this revision: drops or changes what the revision does not have. */
  readonly toWire: Conversions;
  /** Converts from this revision to the canonical model (`@mortise/protocol/model`). */
  readonly fromWire: Conversions;
}

/**
 * One line of a revision's change log, for `docs/reference/revisions.md`. The change logs are not part of `Revision`, so that bundlers drop them from
 * programs.
 */
export interface RevisionChange {
  readonly what: string;
  /** The page and anchor of the specification that describe the change. */
  readonly see: string;
}
