/** What can go wrong with authorization, one class a reason to act differently. */

import { MortiseError } from '@mortise/jsonrpc-core';

/** An option cannot hold. */
export class AuthOptionError extends MortiseError {
  override get name(): string {
    return 'AuthOptionError';
  }
  override readonly code: 'ERR_AUTH_OPTION' = 'ERR_AUTH_OPTION';
}

/** Every error that this package throws: `switch (error.code)` narrows it. */
export type AnyAuthError = AuthOptionError;
