/** What `ctx.roots` does, loaded with all that asks. */

import type { Root } from '@mortise/protocol';
import type { CallFacts } from '../call-facts.ts';
import { AskUnavailableError } from '../errors.ts';
import type { RequestCall } from '../request-call.ts';
import { askClient } from './ask-client.ts';
import type { RootsHolder } from './client-roots.ts';
import { markHandled } from './mark-handled.ts';

const CHANGED = 'notifications/roots/list_changed';

/** @param own Keeps them for the one call. */
export function listClientRoots(facts: CallFacts, own: RootsHolder): Promise<readonly Root[]> {
  const holder = tellsOfChanges(facts) ? ((facts as Partial<RequestCall>).session ?? own) : own;
  if (holder.roots) return holder.roots;
  const asked = markHandled(askForRoots(facts));
  holder.roots = asked;
  // What failed may succeed the next time.
  asked.catch(() => holder.roots === asked && (holder.roots = undefined));
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
