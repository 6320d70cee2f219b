/** The user's folders as servers are told of them. */

import type { Root } from '@mortise/protocol/model';
import { InvalidAnswerError } from '../errors.ts';

/**
 * Gives roots whose URIs have one spelling each, every one once.
 *
 * Does NOT look at the disk: `folderRoots` of `@mortise/client/node` does.
 *
 * @throws {InvalidAnswerError} One is not a `file://` URI, or has something in it that could lead elsewhere.
 * @see 2026-07-28 client/roots
 */
export function normalizeRoots(roots: readonly Root[]): readonly Root[] {
  const byUri = new Map<string, Root>();
  for (const root of roots) {
    const uri = normalize(root.uri);
    if (!byUri.has(uri)) byUri.set(uri, uri === root.uri ? root : { ...root, uri });
  }
  return [...byUri.values()];
}

function normalize(uri: string): string {
  if (!/^file:\/\//iu.test(uri)) throw new InvalidAnswerError(`root "${uri}": a root's URI begins with file://`);
  if (/(?:^|[/\\])(?:\.|%2e){2}(?:[/\\]|$)/iu.test(uri)) throw new InvalidAnswerError(`root "${uri}": a root's URI has no ".." in it`);
  if (/%(?:2f|5c|00)/iu.test(uri))
    throw new InvalidAnswerError(`root "${uri}": a root's URI has no encoded slash, backslash or zero in it`);
  let parsed: URL;
  try {
    parsed = new URL(uri);
  } catch (cause) {
    throw new InvalidAnswerError(`root "${uri}": a root's URI must be readable`, { cause });
  }
  if (parsed.search !== '' || parsed.hash !== '') throw new InvalidAnswerError(`root "${uri}": a root's URI has no query and no fragment`);
  return parsed.href;
}
