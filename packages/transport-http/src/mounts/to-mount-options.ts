/** What a mount serves by, checked: programs without types mix its arguments up. */

import { HttpOptionError } from '../errors.ts';
import type { HttpHandlerOptions } from '../server/options.ts';

/** Options whose path is known. */
export type MountOptions = HttpHandlerOptions & { readonly path: string };

/** @throws {HttpOptionError} `ERR_HTTP_OPTION`: options that are no object. */
export function toMountOptions(options: HttpHandlerOptions): MountOptions {
  if (typeof options !== 'object' || options === null) {
    throw new HttpOptionError(`The options of a mount must be an object, such as { path: '/mcp' }, and not ${describe(options)}`);
  }
  return { ...options, path: options.path ?? '/mcp' };
}

/** @throws {HttpOptionError} `ERR_HTTP_OPTION`: nothing that paths can be routed on. */
export function requireApplication(app: { readonly all?: unknown }): void {
  if (typeof app?.all === 'function') return;
  throw new HttpOptionError('What a server is mounted on must be an application or a router, given first: it has no function "all"');
}

function describe(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 20)) : String(value);
}
