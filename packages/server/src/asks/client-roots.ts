/** `ctx.roots`: the places that the client offers to work in, and whether a path lies in one of them. */

import type { Root } from '@mortise/protocol';
import type { RequestCall } from '../request-call.ts';
import type { CallFacts } from '../call-facts.ts';
import { AskUnavailableError } from '../errors.ts';
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
   * Lists them. The client is asked once a call of the handler; once until they change, where it says that it tells of changes.
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

/** Where a legacy session keeps what it was told. */
export interface RootsHolder {
  roots: Promise<readonly Root[]> | undefined;
}

const CHANGED = 'notifications/roots/list_changed';

export function createClientRoots(facts: CallFacts): ClientRoots {
  const own: RootsHolder = { roots: undefined };
  const list = (): Promise<readonly Root[]> => {
    const holder = tellsOfChanges(facts) ? ((facts as Partial<RequestCall>).session ?? own) : own;
    if (holder.roots) return holder.roots;
    const asked = markHandled(askForRoots(facts));
    holder.roots = asked;
    // What failed may succeed the next time.
    asked.catch(() => holder.roots === asked && (holder.roots = undefined));
    return asked;
  };
  return { list, contains: (path) => markHandled(contains(facts, list, path)) };
}

async function askForRoots(facts: CallFacts): Promise<readonly Root[]> {
  const { roots } = await withAsking((asking) => asking.askClient(facts, 'roots/list'));
  return roots as unknown as readonly Root[];
}

async function contains({ core }: CallFacts, list: () => Promise<readonly Root[]>, path: string | URL): Promise<boolean> {
  const guard = core.options.roots;
  if (!guard)
    throw new AskUnavailableError('ctx.roots.contains knows no disk: give the server `roots: diskRoots()` of @mortise/server/node');
  return guard.contains(await list(), path);
}

function tellsOfChanges({ revision, client }: CallFacts): boolean {
  return revision.notifications.has(CHANGED) && client.capabilities.roots?.listChanged === true;
}
