/** The paths that a mount has to route to the handler, by the same options that the handler goes by. */

import type { HttpHandlerOptions } from '../server/options.ts';

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

export function mountPaths(options: HttpHandlerOptions & { readonly path: string }): readonly string[] {
  const { path, sse, resourceMetadata } = options;
  const endpoints = typeof sse === 'object' ? sse : {};
  return [
    path,
    ...(sse === undefined || sse === false ? [] : [endpoints.path ?? '/sse', endpoints.messagePath ?? '/messages']),
    ...(resourceMetadata === undefined ? [] : [WELL_KNOWN, WELL_KNOWN + path]),
  ];
}
