/** The paths that a mount has to route to the handler, by the same options that the handler goes by. */

import { toSsePaths } from '../server/options.ts';
import { WELL_KNOWN } from '../server/well-known.ts';
import type { MountOptions } from './to-mount-options.ts';

export function mountPaths(options: MountOptions): readonly string[] {
  const { path, resourceMetadata } = options;
  const sse = toSsePaths(options.sse);
  return [
    path,
    ...(sse === undefined ? [] : [sse.path, sse.messagePath]),
    ...(resourceMetadata === undefined ? [] : [WELL_KNOWN, WELL_KNOWN + path]),
  ];
}
