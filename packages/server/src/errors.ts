/** The errors that a server throws. Each error text says what to do. */

import { MortiseError, ProtocolError } from '@mortise/jsonrpc-core';
import type { ClientCapabilities, ElicitRequestURLParams } from '@mortise/protocol/model';
import { URL_ELICITATION_REQUIRED } from '@mortise/protocol/wire';

/**
 * Throw it in a tool to tell the model what went wrong. The call gets an `isError` result with this message, unchanged. The messages of
 * other errors are filtered, see `McpServerOptions.describeError`.
 */
export class ToolError extends MortiseError {
  override readonly name: string = 'ToolError';
  override readonly code: 'ERR_TOOL' = 'ERR_TOOL';
}

/**
 * A server, tool, prompt, resource or extension cannot be registered: a name is taken or malformed, or an option is unknown or invalid. The
 * message names it and the rule.
 */
export class RegistrationError extends MortiseError {
  override readonly name: string = 'RegistrationError';
  override readonly code: 'ERR_REGISTRATION' = 'ERR_REGISTRATION';
}

/**
 * A tool's, prompt's or form's schema cannot be converted to JSON Schema, so clients could not know what to send: it has a Date or a
 * transform, or its library needs an adapter (`@mortise/server/zod`). The message says what to write instead.
 */
export class SchemaUnsupportedError extends MortiseError {
  override readonly name: string = 'SchemaUnsupportedError';
  override readonly code: 'ERR_SCHEMA_UNSUPPORTED' = 'ERR_SCHEMA_UNSUPPORTED';
}

/**
 * A handler returned something that is not a valid result. The client only gets "Internal error"; the server's `logger` gets this error,
 * which says what is wrong.
 */
export class InvalidHandlerResultError extends MortiseError {
  override readonly name: string = 'InvalidHandlerResultError';
  override readonly code: 'ERR_HANDLER_RESULT' = 'ERR_HANDLER_RESULT';
}

/**
 * Why a handler was stopped: the reason of `ctx.signal`, beside `ERR_CANCELLED` (the client cancelled) and `ERR_CONNECTION_CLOSED`.
 *
 * - `ERR_HANDLER_TIMEOUT`: the handler did not finish within `handlerTimeoutMs` (10 minutes). Raise it, or make the tool a task.
 * - `ERR_SERVER_CLOSED`: the server or the session was closed.
 */
export class HandlerStoppedError extends MortiseError {
  override readonly name: string = 'HandlerStoppedError';
  override readonly code: 'ERR_HANDLER_TIMEOUT' | 'ERR_SERVER_CLOSED';

  constructor(code: HandlerStoppedError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** Why an elicitation, sampling or roots request to the client, or a step of `ctx.once`, failed. */
export type AskErrorCode =
  /** The request cannot be sent to this client: its revision, its connection or the current method does not allow it. Do without it. */
  | 'ERR_ASK_UNAVAILABLE'
  /** The request to the client is not valid, for example a form that asks for a password. */
  | 'ERR_INVALID_ASK'
  /** The client's answer does not fit the request, for example the form's schema. Ask again. */
  | 'ERR_INVALID_ANSWER'
  /**
   * When the handler ran again, it made a different request to the client, so the answer does not fit. The message shows both requests. Put
   * what changes from run to run into `ctx.once`, or give the request a `key`.
   */
  | 'ERR_ASK_CHANGED'
  /** The handler asked the client as often as `requestState.maxRounds` allows. Ask for several things at once, or raise it. */
  | 'ERR_TOO_MANY_ASKS'
  /** The value of a `ctx.once` step is not JSON, so it cannot be kept for the next run of the handler. The step itself did run. */
  | 'ERR_INVALID_STEP'
  /**
   * The client did not declare the capability that the request to it needs. If the handler does not catch this, the client gets error
   * -32021 in revisions with that code, otherwise the error of a failed handler.
   */
  | 'ERR_CLIENT_CAPABILITY';

/** An elicitation, sampling or roots request to the client, or a step of `ctx.once`, failed. `code` tells why. */
export class AskError extends MortiseError {
  override readonly name: string = 'AskError';
  override readonly code: AskErrorCode;
  /** The capabilities that the client lacks, if the code is `ERR_CLIENT_CAPABILITY`. */
  readonly requiredCapabilities: ClientCapabilities | undefined;

  constructor(
    code: AskErrorCode,
    message: string,
    options: { readonly cause?: unknown; readonly requiredCapabilities?: ClientCapabilities } = {},
  ) {
    super(message, options);
    this.code = code;
    this.requiredCapabilities = options.requiredCapabilities;
  }
}

/**
 * Thrown by `ctx.elicit` and the like to end the handler after its request was sent to the client. The handler runs again with the answer.
 * Do not swallow this error: clean up in `finally`, and rethrow it in a `catch` for other errors.
 */
export class Suspended extends MortiseError {
  override readonly name: string = 'Suspended';
  override readonly code: 'ERR_SUSPENDED' = 'ERR_SUSPENDED';
}

/** Makes the error for a request to the client that is cancelled because the handler's call already has its response. */
export function callOver(): Suspended {
  return new Suspended('The call has ended');
}

/** A URL that the user must open, as passed to `UrlElicitationRequiredError`. */
export interface RequiredPage {
  readonly message: string;
  readonly url: string;
  /** The id of this elicitation, unique within the server. @default a random id */
  readonly elicitationId?: string | undefined;
}

/**
 * Throw it in a handler that cannot continue before the user has opened URLs. In 2025-11-25 the client gets error -32042. Later revisions
 * ask the user to open the URLs and run the handler again. Earlier revisions have no URL elicitation.
 *
 * @see 2025-11-25 client/elicitation#url-elicitation-required-error
 */
export class UrlElicitationRequiredError extends ProtocolError {
  override readonly name: string = 'UrlElicitationRequiredError';
  /** The URLs with their ids. Pass an id to `ctx.completeElicitation` when the interaction is complete. */
  readonly elicitations: readonly ElicitRequestURLParams[];

  constructor(pages: readonly RequiredPage[], message = 'The user must first open a URL') {
    const elicitations = pages.map(({ elicitationId = crypto.randomUUID(), url, message: text }): ElicitRequestURLParams => ({
      mode: 'url',
      elicitationId,
      url,
      message: text,
    }));
    super(URL_ELICITATION_REQUIRED, message, { elicitations });
    this.elicitations = elicitations;
  }
}

/** The union of all errors that this package throws: `switch (error.code)` narrows the type. */
export type AnyServerError =
  | ToolError
  | RegistrationError
  | SchemaUnsupportedError
  | InvalidHandlerResultError
  | HandlerStoppedError
  | AskError
  | Suspended
  | UrlElicitationRequiredError;
