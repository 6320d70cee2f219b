/**
 * What a revision of the protocol is: a value that says everything in which one revision differs from another. The rest of
 * the code asks a `Revision` for facts by name and never compares versions.
 */

import type { JsonObject } from '@mortise/jsonrpc-core';

/** Legacy revisions open with `initialize`; modern ones carry everything in each request's `_meta`. */
export type Era = 'legacy' | 'modern';

/** Who may send a method. `embedded`: not a request of its own, but an entry of an `input_required` result. */
export type Direction = 'client-to-server' | 'server-to-client' | 'both' | 'embedded';

/** One request or notification of a revision. */
export interface MethodFacts {
  readonly direction: Direction;
  /** The server capability that a method from the client needs (`tools`, `resources.subscribe`), if any. */
  readonly serverCapability?: string;
  /** The client capability that a method from the server needs (`sampling`, `elicitation.url`), if any. */
  readonly clientCapability?: string;
  /** Its result may be `input_required`. */
  readonly inputRequired?: true;
  /** Its complete result carries `ttlMs` and `cacheScope`. */
  readonly cacheable?: true;
  /** Its list is paged by `cursor` and `nextCursor`. */
  readonly paged?: true;
  /** The parameter that HTTP mirrors in `Mcp-Name`. */
  readonly nameParam?: string;
  /** HTTP mirrors arguments in `Mcp-Param-*`: `marked` by the schemas in this method's result, `sent` with this method. */
  readonly paramHeaders?: 'marked' | 'sent';
  /** Its response stays open, and notifications come before the result that ends it. */
  readonly listens?: true;
  /** Changes what a session remembers and nothing else, so that serving it again does no harm. */
  readonly changesSession?: true;
}

/** Every fact beside methods, shapes and HTTP that may differ between revisions, each with what it means. */
export interface Rules {
  /** A frame may hold a JSON array of messages. */
  readonly batching: boolean;
  /** An error answer to an unreadable request leaves `id` out; else it is `null`. */
  readonly errorIdOptional: boolean;
  /** Results carry `resultType`. */
  readonly resultType: boolean;
  /** The code of "no such resource". */
  readonly resourceNotFoundCode: number;
  /** Arguments that fail their schema are an `isError` result; else a -32602 error. */
  readonly invalidArgumentsAreResults: boolean;
  /** What `structuredContent` may be. */
  readonly structuredContent: 'none' | 'object' | 'any';
  /** The content block types that exist. */
  readonly contentTypes: ReadonlySet<string>;
  /** A sampling message's content may be an array, and may hold tool blocks. */
  readonly samplingArrays: boolean;
  /** Progress notifications have a `message`. */
  readonly progressMessage: boolean;
  /** Completion requests have a `context`. */
  readonly completionContext: boolean;
  /** The `completions` capability exists. */
  readonly completionsCapability: boolean;
  /** Where log messages are switched on: by `logging/setLevel` for the session, or by each request's `_meta`. */
  readonly logLevel: 'session' | 'request';
  /** How elicitation exists: not at all, forms only, or forms and URLs. */
  readonly elicitation: 'none' | 'form' | 'form-and-url';
  /** URL elicitation has `elicitationId`, -32042 and a completion notification. */
  readonly elicitationIds: boolean;
  /** Which generation of tasks is part of the core. */
  readonly coreTasks: boolean;
  /** `capabilities.extensions` exists. */
  readonly extensions: boolean;
  /** The JSON Schema dialect of a schema without `$schema`; absent where the revision names none. */
  readonly defaultDialect: string | undefined;
  /** `_meta` exists on named types (tools, resources, content), not on params and results alone. */
  readonly metaOnTypes: boolean;
  /** Which label of a `_meta` prefix reserves it: no rule yet, any label followed by another, or the second. */
  readonly reservedMetaLabel: 'none' | 'any-but-last' | 'second';
  /** Change notifications flow unasked, or only on `subscriptions/listen`. */
  readonly changeNotifications: 'unsolicited' | 'listen';
}

/** What HTTP looks like in a revision. */
export interface HttpRules {
  /** Two endpoints with an `endpoint` event (HTTP+SSE), or one endpoint (Streamable HTTP). */
  readonly endpoints: 'sse-pair' | 'single';
  /** `Mcp-Session-Id` exists. */
  readonly sessions: boolean;
  /** A standalone GET stream exists. */
  readonly getStream: boolean;
  /** Streams may be resumed by `Last-Event-ID`. */
  readonly resumable: boolean;
  /** The server may close a stream before its answer and let the client poll: a priming event, `retry`. */
  readonly polling: boolean;
  /** A dropped connection cancels its request. */
  readonly disconnectCancels: boolean;
  /** `MCP-Protocol-Version` is sent: never, after the handshake, or on every request. */
  readonly versionHeader: 'never' | 'after-initialize' | 'always';
  /** `Mcp-Method`, `Mcp-Name` and `Mcp-Param-*` mirror the body. */
  readonly mirrorHeaders: boolean;
  /** The status of a JSON-RPC error by its code; a code that is not named is sent with 200. */
  readonly statusByCode: ReadonlyMap<number, number>;
  /** The status of a -32602 for a request that lacks a mandatory member of `_meta`; other -32602 are sent with 200. */
  readonly missingMetaStatus: number;
}

/**
 * Converts one value between a revision's wire and the canonical model. Pure; returns its argument where nothing differs, and
 * leaves what it does not understand as it is.
 *
 * @throws {UnrepresentableError} `ERR_NOT_REPRESENTABLE`: the revision cannot say it, and leaving it out would change its meaning.
 */
export type Convert = (value: JsonObject) => JsonObject;

/** One direction of a revision's conversions. A method that is not in a table needs no conversion. */
export interface Conversions {
  readonly params: ReadonlyMap<string, Convert>;
  readonly results: ReadonlyMap<string, Convert>;
  readonly notifications: ReadonlyMap<string, Convert>;
}

/** One revision of the Model Context Protocol, composed from the one before it and its own changes. */
export interface Revision {
  /** The version string as the wire has it. Shown and sent; compared nowhere but in `revisions/`. */
  readonly version: string;
  /** The version, for texts that name a revision. */
  toString(): string;
  readonly era: Era;
  /** The requests that exist, by method. Absent means -32601. */
  readonly requests: ReadonlyMap<string, MethodFacts>;
  /** The notifications that exist, by method. */
  readonly notifications: ReadonlyMap<string, MethodFacts>;
  /**
   * The capability keys that exist, dotted for nested ones (`resources.subscribe`). A key of another revision is dropped on
   * sending; a key that no revision has is passed on.
   */
  readonly clientCapabilities: ReadonlySet<string>;
  readonly serverCapabilities: ReadonlySet<string>;
  /** The capability keys that other revisions have and this one does not. */
  readonly foreignCapabilities: Readonly<Record<'client' | 'server', ReadonlySet<string>>>;
  /** MCP's own error codes that may be sent, by name. */
  readonly errorCodes: ReadonlyMap<string, number>;
  readonly rules: Rules;
  readonly http: HttpRules;
  /** Canonical model to this wire: drops or reshapes what this revision does not have. */
  readonly toWire: Conversions;
  /** This wire to the canonical model. */
  readonly fromWire: Conversions;
}

/**
 * One line of a revision's change log, in the order of the specification's own. The logs stand beside the revisions, not on them, so
 * that programs do not carry their prose; `docs/revisions.md` shows them.
 */
export interface RevisionChange {
  readonly what: string;
  /** The page and anchor of the specification that says so. */
  readonly see: string;
}
