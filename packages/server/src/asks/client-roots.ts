/** `ctx.roots`: the places that the client offers to work in, and whether a path lies in one of them. */

import type { Root } from '@mortise/protocol';
import type { CallFacts } from '../call-facts.ts';
import { withAsking } from './load-asking.ts';
import { markHandled } from './mark-handled.ts';

/** Tells whether a path lies in one of some places. `diskRoots()` of `@mortise/server/node` does. */
export interface RootGuard {
  /**
   * @param path Absolute, or a `file:` URL. It need not exist yet.
   * @returns False where it leads out of them in any way: by `..`, by a symbolic link, because a root has vanished.
   */
  contains(roots: readonly Root[], path: string | URL): Promise<boolean>;
}

/**
 * The client's roots.
 *
 * @deprecated since 2026-07-28, with roots: take directories as arguments, resource URIs or configuration. Works in every revision.
 */
export interface ClientRoots {
  /**
   * Lists them. The client is asked once a call of the handler; once until they change, where it says that it tells of changes and they
   * are no more than some 64 KiB.
   * Throws as `elicit` does.
   */
  list(): Promise<readonly Root[]>;
  /**
   * Tells whether a path lies in one of them: guidance of the client's, no access control of yours.
   *
   * @throws {AskUnavailableError} `ERR_ASK_UNAVAILABLE`: the server has no `roots` option, which knows the disk.
   */
  contains(path: string | URL): Promise<boolean>;
}

/** Where what the client said is kept: with its legacy session, or for one call. */
export interface RootsHolder {
  roots: Promise<readonly Root[]> | undefined;
}

export function createClientRoots(facts: CallFacts): ClientRoots {
  const own: RootsHolder = { roots: undefined };
  const list = (): Promise<readonly Root[]> => {
    const listed = markHandled(withAsking((asking) => asking.listClientRoots(facts, own)));
    facts.onAsking?.(listed);
    return listed;
  };
  return {
    list,
    contains: (path) => markHandled(withAsking((asking) => asking.containsPath(facts, list, path))),
  };
}
