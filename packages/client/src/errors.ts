/** The errors of the client, one class for each reason to act differently. What the server itself said is a `RemoteError`, or a `cause`. */

import { type JsonObject, type JsonValue, MortiseError, type RemoteError } from '@mortise/jsonrpc-core';
import type { SchemaIssue } from '@mortise/protocol/contracts';
import type { CallToolResult, ElicitRequestURLParams } from '@mortise/protocol/model';

/** Something needs a capability that a side does not have. Thrown before sending where the client knows. */
export class MissingCapabilityError extends MortiseError {
  override readonly name: string = 'MissingCapabilityError';
  override readonly code: 'ERR_MISSING_CAPABILITY' = 'ERR_MISSING_CAPABILITY';
  /** Which side would have to declare it. */
  readonly side: 'client' | 'server';
  /** What is missing, dotted (`resources.subscribe`), or the identifier of an extension. */
  readonly missing: readonly string[];

  constructor(message: string, side: 'client' | 'server', missing: readonly string[], options?: ErrorOptions) {
    super(message, options);
    this.side = side;
    this.missing = missing;
  }
}

/** The two sides have no revision of the protocol in common, or the server does not speak the era that the client is pinned to. */
export class UnsupportedVersionError extends MortiseError {
  override readonly name: string = 'UnsupportedVersionError';
  override readonly code: 'ERR_UNSUPPORTED_VERSION' = 'ERR_UNSUPPORTED_VERSION';
  /** What the server speaks, as far as it said. */
  readonly supported: readonly string[];
  /** What the client would speak. */
  readonly offered: readonly string[];

  constructor(message: string, supported: readonly string[], offered: readonly string[], options?: ErrorOptions) {
    super(message, options);
    this.supported = supported;
    this.offered = offered;
  }
}

/** The revision that is spoken has no such method. */
export class UnsupportedMethodError extends MortiseError {
  override readonly name: string = 'UnsupportedMethodError';
  override readonly code: 'ERR_UNSUPPORTED_METHOD' = 'ERR_UNSUPPORTED_METHOD';
  readonly method: string;

  constructor(message: string, method: string) {
    super(message);
    this.method = method;
  }
}

/** The server sent something that the protocol does not allow there: a malformed result, a list without end, an icon that is not safe. */
export class InvalidResultError extends MortiseError {
  override readonly name: string = 'InvalidResultError';
  override readonly code: 'ERR_INVALID_RESULT' = 'ERR_INVALID_RESULT';
  /** The result as it came, where it is one. */
  readonly result: JsonObject | undefined;

  constructor(message: string, options?: ErrorOptions & { readonly result?: JsonObject }) {
    super(message, options);
    this.result = options?.result;
  }
}

/** The server asked for input that the program does not give, or asked too often. */
export class InputRequiredError extends MortiseError {
  override readonly name: string = 'InputRequiredError';
  override readonly code: 'ERR_INPUT_REQUIRED' = 'ERR_INPUT_REQUIRED';
  /**
   * The pages that the user must open before the call is made again, where it is pages that a server of 2025-11-25 asked for (-32042); else
   * empty. Check each before you show it: `checkPage` of `@mortise/client/host`.
   */
  readonly elicitations: readonly ElicitRequestURLParams[];

  constructor(message: string, options: ErrorOptions & { readonly elicitations?: readonly ElicitRequestURLParams[] } = {}) {
    super(message, options);
    this.elicitations = options.elicitations ?? [];
  }
}

/** There is no such resource. */
export class ResourceNotFoundError extends MortiseError {
  override readonly name: string = 'ResourceNotFoundError';
  override readonly code: 'ERR_RESOURCE_NOT_FOUND' = 'ERR_RESOURCE_NOT_FOUND';
  readonly uri: string;
  /** The code that the server used: -32002 or, since the modern era, -32602. */
  readonly rpcCode: number;
  readonly data: JsonValue | undefined;

  constructor(uri: string, cause: RemoteError) {
    super(`there is no resource ${uri}: ${cause.message}`, { cause });
    this.uri = uri;
    this.rpcCode = cause.rpcCode;
    this.data = cause.data;
  }
}

/** A tool's `structuredContent` does not fit the `outputSchema` that the server lists for it, or that schema cannot be checked. */
export class ToolOutputError extends MortiseError {
  override readonly name: string = 'ToolOutputError';
  override readonly code: 'ERR_TOOL_OUTPUT' = 'ERR_TOOL_OUTPUT';
  readonly tool: string;
  /** The result as it came. */
  readonly result: CallToolResult;
  /** Where it does not fit; empty where nothing could be checked. */
  readonly issues: readonly SchemaIssue[];

  constructor(
    message: string,
    tool: string,
    result: CallToolResult,
    options: ErrorOptions & { readonly issues?: readonly SchemaIssue[] } = {},
  ) {
    super(message, options);
    this.tool = tool;
    this.result = result;
    this.issues = options.issues ?? [];
  }
}

/** A tool answered with `isError`. Thrown only where the program asks for it: by `expectSuccess` and typed clients. */
export class ToolFailedError extends MortiseError {
  override readonly name: string = 'ToolFailedError';
  override readonly code: 'ERR_TOOL_FAILED' = 'ERR_TOOL_FAILED';
  readonly tool: string;
  /** The result as it came: its content is meant for the model. */
  readonly result: CallToolResult;

  constructor(message: string, tool: string, result: CallToolResult) {
    super(message);
    this.tool = tool;
    this.result = result;
  }
}

/** Every error class of this package: `switch (error.code)` narrows it. */
export type AnyClientError =
  | MissingCapabilityError
  | UnsupportedVersionError
  | UnsupportedMethodError
  | InvalidResultError
  | InputRequiredError
  | ResourceNotFoundError
  | ToolOutputError
  | ToolFailedError;
