/** `McpError`: the error of a JSON-RPC error response, as v1 has it. */

import type { ElicitRequestURLParams } from './elicitation.ts';

/** The error codes of JSON-RPC and MCP. */
export const ErrorCode = {
  ConnectionClosed: -32000,
  RequestTimeout: -32001,
  ParseError: -32700,
  InvalidRequest: -32600,
  MethodNotFound: -32601,
  InvalidParams: -32602,
  InternalError: -32603,
  UrlElicitationRequired: -32042,
} as const;
export type ErrorCode = (typeof ErrorCode)[keyof typeof ErrorCode];

/** An error with a JSON-RPC code. Thrown by a handler, it becomes the error response; a client's request rejects with it. */
export class McpError extends Error {
  readonly code: number;
  readonly data?: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(`MCP error ${code}: ${message}`);
    this.name = 'McpError';
    this.code = code;
    this.data = data;
  }

  /** Makes the most specific error for an error response. */
  static fromError(code: number, message: string, data?: unknown): McpError {
    const { elicitations } = (data ?? {}) as { readonly elicitations?: ElicitRequestURLParams[] };
    if (code === ErrorCode.UrlElicitationRequired && elicitations) return new UrlElicitationRequiredError(elicitations, message);
    return new McpError(code, message, data);
  }
}

/** Thrown by a tool whose user must first visit the pages named. */
export class UrlElicitationRequiredError extends McpError {
  constructor(elicitations: ElicitRequestURLParams[], message: string = `URL elicitation${elicitations.length > 1 ? 's' : ''} required`) {
    super(ErrorCode.UrlElicitationRequired, message, { elicitations });
  }

  get elicitations(): ElicitRequestURLParams[] {
    return (this.data as { readonly elicitations?: ElicitRequestURLParams[] } | undefined)?.elicitations ?? [];
  }
}
