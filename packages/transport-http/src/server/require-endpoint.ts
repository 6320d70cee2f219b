/** Refuses to serve what is no server. */

import type { McpEndpoint } from '@mortise/protocol/contracts';
import { HttpOptionError } from '../errors.ts';

/** @throws {HttpOptionError} `ERR_HTTP_OPTION`: programs without types mix arguments up, or forget one. */
export function requireEndpoint(endpoint: McpEndpoint): void {
  if (typeof (endpoint as Partial<McpEndpoint> | undefined)?.handle === 'function') return;
  throw new HttpOptionError('What is served must be a server, such as an McpServer: it has no function "handle"');
}
