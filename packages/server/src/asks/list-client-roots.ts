/** What `ctx.roots` does, loaded with all that asks. */

import type { Root } from '@mortise/protocol';
import type { CallFacts } from '../call-facts.ts';
import { AskUnavailableError } from '../errors.ts';
import { isHeavier } from '../is-heavier.ts';
import type { RequestCall } from '../request-call.ts';
import { askClient } from './ask-client.ts';
import type { RootsHolder } from './client-roots.ts';
import { markHandled } from './mark-handled.ts';

const CHANGED = 'notifications/roots/list_changed';
/** What a session keeps of them, see `isHeavier`. */
const MAX_ROOTS = 64 * 1024;

/** @param own Keeps them for the one call, where the session does not. */
export function listClientRoots(facts: CallFacts, own: RootsHolder): Promise<readonly Root[]> {
  if (own.roots) return own.roots;
  const session = tellsOfChanges(facts) ? (facts as Partial<RequestCall>).session : undefined;
  const holder: RootsHolder = session ?? own;
  const asked = (holder.roots ??= markHandled(askForRoots(facts)));
  const forget = (): void => {
    if (holder.roots === asked) holder.roots = undefined;
  };
  // What failed may succeed the next time. What is too much to be kept with the session ends with each call that was told of it.
  asked.then((roots) => {
    if (session === undefined || !isHeavier(roots, MAX_ROOTS)) return;
    own.roots = asked;
    forget();
  }, forget);
  return asked;
}

async function askForRoots(facts: CallFacts): Promise<readonly Root[]> {
  const { roots } = await askClient(facts, 'roots/list');
  return roots as unknown as readonly Root[];
}

export async function containsPath({ core }: CallFacts, list: () => Promise<readonly Root[]>, path: string | URL): Promise<boolean> {
  const guard = core.options.roots;
  if (!guard)
    throw new AskUnavailableError('ctx.roots.contains knows no disk: give the server `roots: diskRoots()` of @mortise/server/node');
  return guard.contains(await list(), path);
}

function tellsOfChanges({ revision, client }: CallFacts): boolean {
  return revision.notifications.has(CHANGED) && client.capabilities.roots?.listChanged === true;
}
