/**
 * The errors of the client. An error that the server returned is a `RemoteError`, or the `cause` of an error here. A response that the
 * protocol does not allow is an `InvalidResponseError` of `@mortise/jsonrpc-core`.
 */

import { type JsonValue, MortiseError, type RemoteError } from '@mortise/jsonrpc-core';
import type { SchemaIssue } from '@mortise/protocol/contracts';
import type { CallToolResult, ElicitRequestURLParams } from '@mortise/protocol/model';

/**
 * The client or the server lacks a needed capability, or the revision lacks the method. If already known, thrown before sending.
 *
 * Remedy: read `client.serverCapabilities` before the call, or set the handler that declares the client's capability before `connect`.
 */
export class MissingCapabilityError extends MortiseError {
  override readonly name: string = 'MissingCapabilityError';
  override readonly code: 'ERR_MISSING_CAPABILITY' = 'ERR_MISSING_CAPABILITY';
  /** Which side would have to declare the missing capability. */
  readonly side: 'client' | 'server';
  /** What is missing: dotted capabilities (`resources.subscribe`), extension identifiers or methods. */
  readonly missing: readonly string[];

  constructor(message: string, side: 'client' | 'server', missing: readonly string[], options?: ErrorOptions) {
    super(message, options);
    this.side = side;
    this.missing = missing;
  }
}

/**
 * Client and server have no revision in common, or the server does not support the era that the client requires.
 *
 * Remedy: update the older side, or leave out the options `era`, `protocolVersion` and `revisions`.
 */
export class UnsupportedVersionError extends MortiseError {
  override readonly name: string = 'UnsupportedVersionError';
  override readonly code: 'ERR_UNSUPPORTED_VERSION' = 'ERR_UNSUPPORTED_VERSION';
  /** The versions that the server supports, as far as it reported them. */
  readonly supported: readonly string[];
  /** The versions that the client allows. */
  readonly offered: readonly string[];

  constructor(message: string, supported: readonly string[], offered: readonly string[], options?: ErrorOptions) {
    super(message, options);
    this.supported = supported;
    this.offered = offered;
  }
}

/**
 * The server asked for input that the program does not provide, or asked too often.
 *
 * Remedy: set the handler (`elicitation`, `sampling` or `roots`). If `elicitations` has pages, show them to the user, and call again when
 * the user is done.
 */
export class InputRequiredError extends MortiseError {
  override readonly name: string = 'InputRequiredError';
  override readonly code: 'ERR_INPUT_REQUIRED' = 'ERR_INPUT_REQUIRED';
  /**
   * The pages that the user must open before the request is sent again, if a server of 2025-11-25 asked for pages (-32042); else empty.
   * Leaves out pages that the option `elicitation.urlPolicy` refuses.
   */
  readonly elicitations: readonly ElicitRequestURLParams[];

  constructor(message: string, options: ErrorOptions & { readonly elicitations?: readonly ElicitRequestURLParams[] } = {}) {
    super(message, options);
    this.elicitations = options.elicitations ?? [];
  }
}

/** The server has no resource with the requested URI, whatever error code its revision has for that. */
export class ResourceNotFoundError extends MortiseError {
  override readonly name: string = 'ResourceNotFoundError';
  override readonly code: 'ERR_RESOURCE_NOT_FOUND' = 'ERR_RESOURCE_NOT_FOUND';
  readonly uri: string;
  /** The JSON-RPC error code that the server sent: -32002 or, since the modern era, -32602. */
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
 * - `ERR_TOOL_OUTPUT`: its `structuredContent` does not fit the `outputSchema` that the server lists for the tool, or that schema cannot
 *   be checked. The server is at fault; the option `validator: false` turns the check off.
 * - `ERR_TOOL_FAILED`: the result has `isError`. Only `expectSuccess` and typed clients throw this. See `result`.
 */
export class ToolResultError extends MortiseError {
  override readonly name: string = 'ToolResultError';
  override readonly code: 'ERR_TOOL_OUTPUT' | 'ERR_TOOL_FAILED';
  readonly tool: string;
  /** The tool's result, unchanged. Its content is meant for the model. */
  readonly result: CallToolResult;
  /** The violations of the tool's `outputSchema`; empty if the output was not checked. */
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
