/** The errors of the client, one class for each reason to act differently. What the peer said is `RemoteError`, or a `cause`. */

import { type JsonObject, type JsonValue, MortiseError, type RemoteError } from '@mortise/jsonrpc-core';
import type { CallToolResult, ElicitRequestURLParams } from '@mortise/protocol/model';
import type { SchemaIssue } from '@mortise/protocol/contracts';
import type { InvalidFormError } from './answers/describe-form.ts';

/** Something needs a capability that a side does not have. Raised before sending where the client can tell. */
export class MissingCapabilityError extends MortiseError {
  override readonly name: string = 'MissingCapabilityError';
  override readonly code: 'ERR_MISSING_CAPABILITY' = 'ERR_MISSING_CAPABILITY';
  /** Who would have to have it. */
  readonly side: 'client' | 'server';
  /** What is missing, dotted (`resources.subscribe`), or the identifier of an extension. */
  readonly missing: readonly string[];

  constructor(message: string, side: 'client' | 'server', missing: readonly string[], options?: ErrorOptions) {
    super(message, options);
    this.side = side;
    this.missing = missing;
  }
}

/** The two sides have no revision of the protocol in common. */
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

/** The server does not speak the era that the client is pinned to. */
export class EraMismatchError extends MortiseError {
  override readonly name: string = 'EraMismatchError';
  override readonly code: 'ERR_ERA_MISMATCH' = 'ERR_ERA_MISMATCH';
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

/** The server answered with a kind of result that nobody here understands. */
export class UnknownResultTypeError extends MortiseError {
  override readonly name: string = 'UnknownResultTypeError';
  override readonly code: 'ERR_UNKNOWN_RESULT_TYPE' = 'ERR_UNKNOWN_RESULT_TYPE';
  readonly resultType: string;
  readonly result: JsonObject;

  constructor(message: string, resultType: string, result: JsonObject) {
    super(message);
    this.resultType = resultType;
    this.result = result;
  }
}

/** The server answered with something that is not a result of its method. */
export class InvalidResultError extends MortiseError {
  override readonly name: string = 'InvalidResultError';
  override readonly code: 'ERR_INVALID_RESULT' = 'ERR_INVALID_RESULT';
}

/** The server asked for input that the program does not give, or asked too often. */
export class InputRequiredError extends MortiseError {
  override readonly name: string = 'InputRequiredError';
  override readonly code: 'ERR_INPUT_REQUIRED' = 'ERR_INPUT_REQUIRED';
}

/** The server wants the user to open pages before it does what was asked. 2025-11-25 only: later servers ask for input. */
export class UrlElicitationRequiredError extends MortiseError {
  override readonly name: string = 'UrlElicitationRequiredError';
  override readonly code: 'ERR_URL_ELICITATION_REQUIRED' = 'ERR_URL_ELICITATION_REQUIRED';
  /** The pages. Check each before it is shown: `checkPage` of `@mortise/client/host`. */
  readonly elicitations: readonly ElicitRequestURLParams[];

  constructor(message: string, elicitations: readonly ElicitRequestURLParams[], options?: ErrorOptions) {
    super(message, options);
    this.elicitations = elicitations;
  }
}

/** A handler of the program gave something that is not an answer. A legacy server is told nothing of it but a neutral error. */
export class InvalidAnswerError extends MortiseError {
  override readonly name: string = 'InvalidAnswerError';
  override readonly code: 'ERR_INVALID_ANSWER' = 'ERR_INVALID_ANSWER';
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

/** A tool's `structuredContent` does not fit the `outputSchema` that the server shows for it. */
export class ToolOutputError extends MortiseError {
  override readonly name: string = 'ToolOutputError';
  override readonly code: 'ERR_TOOL_OUTPUT' = 'ERR_TOOL_OUTPUT';
  readonly tool: string;
  readonly issues: readonly SchemaIssue[];
  /** The result as it came. */
  readonly result: CallToolResult;

  constructor(message: string, tool: string, issues: readonly SchemaIssue[], result: CallToolResult) {
    super(message);
    this.tool = tool;
    this.issues = issues;
    this.result = result;
  }
}

/** A tool's schema could not be checked; its results pass unchecked. */
export class OutputSchemaError extends MortiseError {
  override readonly name: string = 'OutputSchemaError';
  override readonly code: 'ERR_OUTPUT_SCHEMA' = 'ERR_OUTPUT_SCHEMA';
  readonly tool: string;

  constructor(tool: string, cause: unknown) {
    super(
      `the output of the tool "${tool}" is not checked: ${cause instanceof Error ? cause.message : 'its outputSchema cannot be compiled'}`,
      { cause },
    );
    this.tool = tool;
  }
}

/** A tool answered with `isError`. Thrown only by those who ask for it: `expectSuccess` and typed clients. */
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

/** A list has too many pages, or gives a cursor that it gave before. */
export class PagingError extends MortiseError {
  override readonly name: string = 'PagingError';
  override readonly code: 'ERR_PAGING' = 'ERR_PAGING';
}

/** An icon is not safe to fetch or to show. */
export class IconError extends MortiseError {
  override readonly name: string = 'IconError';
  override readonly code: 'ERR_ICON' = 'ERR_ICON';
}

/** Every error that this package throws: `switch (error.code)` narrows it. */
export type AnyClientError =
  | MissingCapabilityError
  | UnsupportedVersionError
  | EraMismatchError
  | UnsupportedMethodError
  | UnknownResultTypeError
  | InvalidResultError
  | InputRequiredError
  | UrlElicitationRequiredError
  | InvalidAnswerError
  | ResourceNotFoundError
  | ToolOutputError
  | OutputSchemaError
  | ToolFailedError
  | PagingError
  | InvalidFormError
  | IconError;
