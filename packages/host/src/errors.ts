/** The errors of this package. What a server answers with stays what `@mortise/client` throws, such as `RemoteError`. */

import { MortiseError } from '@mortise/jsonrpc-core';

/**
 * A server cannot be used now. The other servers are not affected.
 *
 * - `ERR_SERVER_UNAVAILABLE`: it could not be started, or waits before its next start. See `host.states`; `host.start(name)` tries at once.
 * - `ERR_SIGN_IN_REQUIRED`: the user must sign in first. Open the page in the server's state, then call `host.start(name)`.
 */
export class ServerUnavailableError extends MortiseError {
  override readonly name: string = 'ServerUnavailableError';
  override readonly code: 'ERR_SERVER_UNAVAILABLE' | 'ERR_SIGN_IN_REQUIRED';
  /** The program's name for the server. */
  readonly server: string;

  constructor(code: ServerUnavailableError['code'], server: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.server = server;
  }
}

/** A tool was not called: the policy refused it, it changed, or no server has it. The model should read the message. */
export class ToolRefusedError extends MortiseError {
  override readonly name: string = 'ToolRefusedError';
  /**
   * - `ERR_TOOL_REFUSED`: the policy did not allow the call.
   * - `ERR_TOOL_CHANGED`: the tool's description, schemas or hints changed since it was allowed. Ask the user again.
   * - `ERR_TOOL_UNKNOWN`: no server has such a tool or prompt. Use a name of `host.tools()` or `host.prompts()`.
   */
  override readonly code: 'ERR_TOOL_REFUSED' | 'ERR_TOOL_CHANGED' | 'ERR_TOOL_UNKNOWN';
  /** The tool's name, as the program passed it. */
  readonly tool: string;

  constructor(code: ToolRefusedError['code'], tool: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.tool = tool;
  }
}

/** Every error class of this package: `switch (error.code)` narrows it. */
export type AnyHostError = ServerUnavailableError | ToolRefusedError;
