/** The errors of this package. What a server answers with stays what `@mortise/client` throws, such as `RemoteError`. */

import { MortiseError } from '@mortise/jsonrpc-core';

/** A server could not be started, or is waiting before its next start. The other servers are not affected. */
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

/** A tool was not called. */
export class ToolRefusedError extends MortiseError {
  override readonly name: string = 'ToolRefusedError';
  /**
   * `ERR_TOOL_REFUSED`: the policy did not allow the call. `ERR_TOOL_CHANGED`: the tool is no longer the one that was consented to: its
   * description, schemas or hints changed. `ERR_TOOL_UNKNOWN`: no server has such a tool.
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
