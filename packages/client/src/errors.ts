/**
 * The errors of the client, one class for each reason to act differently. What the server itself said is a `RemoteError`, or a `cause`; an answer
 * that the protocol does not allow is an `InvalidResponseError` of `@mortise/jsonrpc-core`.
 */

import { type JsonValue, MortiseError, type RemoteError } from '@mortise/jsonrpc-core';
import type { SchemaIssue } from '@mortise/protocol/contracts';
import type { CallToolResult, ElicitRequestURLParams } from '@mortise/protocol/model';

/** Something needs a capability that a side does not have, or a method that the revision does not have. Thrown before sending where the client knows. */
export class MissingCapabilityError extends MortiseError {
  override readonly name: string = 'MissingCapabilityError';
  override readonly code: 'ERR_MISSING_CAPABILITY' = 'ERR_MISSING_CAPABILITY';
  /** Which side would have to declare it. */
  readonly side: 'client' | 'server';
  /** What is missing, dotted (`resources.subscribe`), the identifier of an extension, or a method. */
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

/** The server asked for input that the program does not give, or asked too often. */
export class InputRequiredError extends MortiseError {
  override readonly name: string = 'InputRequiredError';
  override readonly code: 'ERR_INPUT_REQUIRED' = 'ERR_INPUT_REQUIRED';
  /**
   * The pages that the user must open before the call is made again, if a server of 2025-11-25 asked for pages (-32042); else empty. Those that
   * the option `elicitation.urlPolicy` refuses are left out.
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

/**
 * A tool's result cannot be used.
 *
 * `ERR_TOOL_OUTPUT`: its `structuredContent` does not fit the `outputSchema` that the server lists for the tool, or that schema cannot be checked.
 * `ERR_TOOL_FAILED`: it says `isError`. Only `expectSuccess` and typed clients throw this.
 */
export class ToolResultError extends MortiseError {
  override readonly name: string = 'ToolResultError';
  override readonly code: 'ERR_TOOL_OUTPUT' | 'ERR_TOOL_FAILED';
  readonly tool: string;
  /** The result as it came: its content is meant for the model. */
  readonly result: CallToolResult;
  /** Where it does not fit the schema; empty where nothing was checked. */
  readonly issues: readonly SchemaIssue[];

  constructor(
    code: ToolResultError['code'],
    message: string,
    tool: string,
    result: CallToolResult,
    options?: ErrorOptions & { readonly issues?: readonly SchemaIssue[] },
  ) {
    super(message, options);
    this.code = code;
    this.tool = tool;
    this.result = result;
    this.issues = options?.issues ?? [];
  }
}

/** Every error class of this package: `switch (error.code)` narrows it. */
export type AnyClientError =
  MissingCapabilityError | UnsupportedVersionError | InputRequiredError | ResourceNotFoundError | ToolResultError;
