/** Reads what a server wants when it refuses a request. */

import type { Challenge } from '@mortise/protocol/contracts';
import { type AuthChallenge, parseChallenges } from '../www-authenticate.ts';
import { splitScopes } from './token-request.ts';

/** What a server wants. */
export interface Demand {
  readonly error: string | undefined;
  readonly scopes: readonly string[];
  /** Where it says that its metadata is. */
  readonly resourceMetadata: string | undefined;
}

/** Of several challenges, the one for tokens that says most. */
export function toDemand(challenge: Challenge): Demand {
  const challenges = parseChallenges(challenge.header('www-authenticate')).filter(({ scheme }) => scheme === 'bearer' || scheme === 'dpop');
  const find = (name: string): string | undefined =>
    challenges.map(({ params }: AuthChallenge) => params.get(name)).find((value) => value !== undefined);
  return { error: find('error'), scopes: splitScopes(find('scope')), resourceMetadata: find('resource_metadata') };
}
