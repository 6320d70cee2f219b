/** The errors that a server's own code throws, each with what to do about it. */

import { MortiseError, ProtocolError } from '@mortise/jsonrpc-core';
import type { ClientCapabilities, ElicitRequestURLParams } from '@mortise/protocol/model';
import { URL_ELICITATION_REQUIRED } from '@mortise/protocol/wire';

/**
 * Thrown by a tool to tell the model what went wrong, in words meant for it: the call's answer is an `isError` result with
 * this message as it is. Any other error is shown only as far as it is safe, see `McpServerOptions.describeError`.
 */
export class ToolError extends MortiseError {
  override readonly name: string = 'ToolError';
  override readonly code: 'ERR_TOOL' = 'ERR_TOOL';
}

/** Something cannot be registered as it was given: a name that is taken or malformed, an option that nobody owns. */
export class RegistrationError extends MortiseError {
  override readonly name: string = 'RegistrationError';
  override readonly code: 'ERR_REGISTRATION' = 'ERR_REGISTRATION';
}

/** A schema cannot be converted to JSON Schema, so no client could know what to send. */
export class SchemaUnsupportedError extends MortiseError {
  override readonly name: string = 'SchemaUnsupportedError';
  override readonly code: 'ERR_SCHEMA_UNSUPPORTED' = 'ERR_SCHEMA_UNSUPPORTED';
}

/** A handler gave something that is not a result of its kind. The peer gets a neutral error. */
export class InvalidHandlerResultError extends MortiseError {
  override readonly name: string = 'InvalidHandlerResultError';
  override readonly code: 'ERR_HANDLER_RESULT' = 'ERR_HANDLER_RESULT';
}

/** Why a handler was stopped: the reason of its `signal`. `ERR_HANDLER_TIMEOUT`: it did not finish in `handlerTimeoutMs`. */
export class HandlerStoppedError extends MortiseError {
  override readonly name: string = 'HandlerStoppedError';
  override readonly code: 'ERR_HANDLER_TIMEOUT' | 'ERR_SERVER_CLOSED';

  constructor(code: HandlerStoppedError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** Why a question to the client, or a step of `ctx.once`, came to nothing. */
export type AskErrorCode =
  /** No question can reach this client. */
  | 'ERR_ASK_UNAVAILABLE'
  /** The question cannot be put to a client as it was written. */
  | 'ERR_INVALID_ASK'
  /** The client answered with something that the question does not allow. */
  | 'ERR_INVALID_ANSWER'
  /** The handler asked something else when it ran again, so the answer that came does not fit. The message shows both questions. */
  | 'ERR_ASK_CHANGED'
  /** The request asked back as often as `requestState.maxRounds` lets it. */
  | 'ERR_TOO_MANY_ASKS'
  /** The value of a `ctx.once` step cannot be kept. The step itself did run. */
  | 'ERR_INVALID_STEP'
  /**
   * The client did not declare that it can answer. Left uncaught it is answered as the revision says: -32021 where that code exists, else as
   * the handler's failure.
   */
  | 'ERR_CLIENT_CAPABILITY';

/** A question to the client came to nothing; `code` says why. */
export class AskError extends MortiseError {
  override readonly name: string = 'AskError';
  override readonly code: AskErrorCode;
  /** What the client would have to declare, where the code is `ERR_CLIENT_CAPABILITY`. */
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
 * A question was sent to the client, and the handler will run again with the answer: this run is over. Let this error pass. To clean
 * up use `finally`; a `catch` that is meant for other errors throws this one again.
 */
export class Suspended extends MortiseError {
  override readonly name: string = 'Suspended';
  override readonly code: 'ERR_SUSPENDED' = 'ERR_SUSPENDED';
}

/** Why a question is given up whose request has its response. */
export function callOver(): Suspended {
  return new Suspended('The call is over');
}

/** A page that the user has to open. */
export interface RequiredPage {
  readonly message: string;
  readonly url: string;
  /** Unique within the server. @default a random one */
  readonly elicitationId?: string | undefined;
}

/**
 * Thrown by a handler that cannot go on before the user has opened pages, and need not wait for it: 2025-11-25 answers with
 * -32042; later revisions ask for the pages and run the handler again. Earlier ones have no pages.
 *
 * @see 2025-11-25 client/elicitation#url-elicitation-required-error
 */
export class UrlElicitationRequiredError extends ProtocolError {
  override readonly name: string = 'UrlElicitationRequiredError';
  /** With their ids, by which `ctx.completeElicitation` says that one is done. */
  readonly elicitations: readonly ElicitRequestURLParams[];

  constructor(pages: readonly RequiredPage[], message = 'The user has to open a page first') {
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

/** Every error that this package throws: `switch (error.code)` narrows it. */
export type AnyServerError =
  | ToolError
  | RegistrationError
  | SchemaUnsupportedError
  | InvalidHandlerResultError
  | HandlerStoppedError
  | AskError
  | Suspended
  | UrlElicitationRequiredError;
