/** The paths that a mount has to route to the handler, by the same options that the handler goes by. */

import { type HttpHandlerOptions, toSsePaths } from '../server/options.ts';
import { WELL_KNOWN } from '../server/well-known.ts';

export function mountPaths(options: HttpHandlerOptions & { readonly path: string }): readonly string[] {
  const { path, resourceMetadata } = options;
  const sse = toSsePaths(options.sse);
  return [
    path,
    ...(sse === undefined ? [] : [sse.path, sse.messagePath]),
    ...(resourceMetadata === undefined ? [] : [WELL_KNOWN, WELL_KNOWN + path]),
  ];
}
