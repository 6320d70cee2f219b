/** The errors of this package: `switch (error.code)` on the union narrows it. */

import { MortiseError } from '@mortise/jsonrpc-core';

/** No open stream can carry a message to the client of a session. */
export class NoStreamError extends MortiseError {
  override readonly name: string = 'NoStreamError';
  override readonly code: 'ERR_NO_STREAM' = 'ERR_NO_STREAM';
}

/** An option of a handler does not hold, alone or beside another. */
export class HttpOptionError extends MortiseError {
  override readonly name: string = 'HttpOptionError';
  override readonly code: 'ERR_HTTP_OPTION' = 'ERR_HTTP_OPTION';
}
