/** Protected resource metadata from plain data. @see RFC 9728; 2026-07-28 basic/authorization */

import type { HttpRequest } from './http-request.ts';
import { toRequestUrl } from './hosted-call.ts';
import type { Settings } from './options.ts';

/** Where the metadata is, before the endpoint's own path. */
export const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/** Tells whether a path is where the metadata is: with the endpoint's path inserted, or at the root. */
export function isMetadataPath(path: string, settings: Settings): boolean {
  if (settings.resourceMetadata === undefined || !path.startsWith(WELL_KNOWN)) return false;
  const rest = path.slice(WELL_KNOWN.length);
  return rest === '' || (settings.path === undefined ? rest.startsWith('/') : rest === settings.path);
}

/** Where clients find the metadata of the endpoint that a request asked for; undefined where there is none. */
export function metadataUrlOf(request: HttpRequest, settings: Settings): string | undefined {
  if (settings.resourceMetadata === undefined) return undefined;
  const url = new URL(toRequestUrl(request, settings.baseUrl));
  return `${url.origin}${WELL_KNOWN}${url.pathname === '/' ? '' : url.pathname}`;
}
