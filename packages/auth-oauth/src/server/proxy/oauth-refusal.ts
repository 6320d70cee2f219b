/** What an OAuth endpoint refuses with. @see RFC 6749 sections 4.1.2.1 and 5.2; RFC 7591 section 3.2.2 */

import { MortiseError } from '@mortise/jsonrpc-core';

/** The message is told to the caller: it must hold nothing secret. */
export class OAuthRefusal extends MortiseError {
  override readonly name: string = 'OAuthRefusal';
  override readonly code: 'ERR_OAUTH_REFUSED' = 'ERR_OAUTH_REFUSED';
  readonly error: string;
  readonly status: number;

  constructor(error: string, description: string, status = 400, options?: ErrorOptions) {
    super(description, options);
    this.error = error;
    this.status = status;
  }
}
