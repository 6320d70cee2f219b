/** The errors that a server's own code throws, each with what to do about it. */

import { MortiseError } from '@mortise/jsonrpc-core';
import type { ClientCapabilities } from '@mortise/protocol';

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

/** A schema cannot be told as JSON Schema, so no client could know what to send. */
export class SchemaUnsupportedError extends MortiseError {
  override readonly name: string = 'SchemaUnsupportedError';
  override readonly code: 'ERR_SCHEMA_UNSUPPORTED' = 'ERR_SCHEMA_UNSUPPORTED';
}

/** A handler gave something that is not a result of its kind. The peer gets a neutral error. */
export class InvalidHandlerResultError extends MortiseError {
  override readonly name: string = 'InvalidHandlerResultError';
  override readonly code: 'ERR_HANDLER_RESULT' = 'ERR_HANDLER_RESULT';
}

/** A handler did not finish in `handlerTimeoutMs`. It is the reason of the handler's `signal`. */
export class HandlerTimeoutError extends MortiseError {
  override readonly name: string = 'HandlerTimeoutError';
  override readonly code: 'ERR_HANDLER_TIMEOUT' = 'ERR_HANDLER_TIMEOUT';
  /** The bound that was reached. */
  readonly timeoutMs: number;

  constructor(message: string, timeoutMs: number) {
    super(message);
    this.timeoutMs = timeoutMs;
  }
}

/**
 * A handler asked for something that this client did not say it can do. Left uncaught it is answered as the revision says:
 * -32021 where that code exists, else as the handler's failure.
 */
export class ClientCapabilityError extends MortiseError {
  override readonly name: string = 'ClientCapabilityError';
  override readonly code: 'ERR_CLIENT_CAPABILITY' = 'ERR_CLIENT_CAPABILITY';
  /** What the client would have to declare. */
  readonly requiredCapabilities: ClientCapabilities;

  constructor(message: string, requiredCapabilities: ClientCapabilities) {
    super(message);
    this.requiredCapabilities = requiredCapabilities;
  }
}

/** A handler asked the client for something where no question can reach it. */
export class AskUnavailableError extends MortiseError {
  override readonly name: string = 'AskUnavailableError';
  override readonly code: 'ERR_ASK_UNAVAILABLE' = 'ERR_ASK_UNAVAILABLE';
}

/** A client answered a question with something that the question does not allow. */
export class InvalidAnswerError extends MortiseError {
  override readonly name: string = 'InvalidAnswerError';
  override readonly code: 'ERR_INVALID_ANSWER' = 'ERR_INVALID_ANSWER';
}

/** The server was closed: the reason of the signals of what was still running. */
export class ServerClosedError extends MortiseError {
  override readonly name: string = 'ServerClosedError';
  override readonly code: 'ERR_SERVER_CLOSED' = 'ERR_SERVER_CLOSED';

  constructor(message = 'The server was closed', options?: ErrorOptions) {
    super(message, options);
  }
}

/** Every error that this package throws: `switch (error.code)` narrows it. */
export type AnyServerError =
  | ToolError
  | RegistrationError
  | SchemaUnsupportedError
  | InvalidHandlerResultError
  | HandlerTimeoutError
  | ClientCapabilityError
  | AskUnavailableError
  | InvalidAnswerError
  | ServerClosedError;
