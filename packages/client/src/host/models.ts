/** Which of the program's models comes nearest to what a server would like. */

import type { ModelPreferences } from '@mortise/protocol/model';

/** A model that the program can use, with what speaks for it. */
export interface ModelFacts {
  readonly name: string;
  /** Other names that hints may mean, such as a family or what other providers call its like. */
  readonly aliases?: readonly string[] | undefined;
  /** How cheap it is, from 0 to 1. @default 0.5 */
  readonly cheapness?: number | undefined;
  /** How fast it is, from 0 to 1. @default 0.5 */
  readonly speed?: number | undefined;
  /** How capable it is, from 0 to 1. @default 0.5 */
  readonly intelligence?: number | undefined;
}

/**
 * Chooses a model.
 *
 * The first hint that any model fits decides which are left, an exact name before a part of one; without such a hint all are. Of those
 * left the priorities choose, and among equals the earlier one.
 *
 * @returns undefined only where nothing is available.
 * @deprecated since 2026-07-28, with sampling: servers call a model provider's API themselves.
 * @see 2026-07-28 client/sampling#model-preferences
 */
export function selectModel<M extends ModelFacts>(preferences: ModelPreferences | undefined, available: readonly M[]): M | undefined {
  const { hints = [], costPriority = 0, speedPriority = 0, intelligencePriority = 0 } = preferences ?? {};
  const score = ({ cheapness = 0.5, speed = 0.5, intelligence = 0.5 }: ModelFacts): number =>
    costPriority * cheapness + speedPriority * speed + intelligencePriority * intelligence;
  const left = findHinted(hints, available) ?? available;
  return left.reduce<M | undefined>((best, one) => (best === undefined || score(one) > score(best) ? one : best), undefined);
}

function findHinted<M extends ModelFacts>(
  hints: NonNullable<ModelPreferences['hints']>,
  available: readonly M[],
): readonly M[] | undefined {
  for (const { name } of hints) {
    if (typeof name !== 'string' || name === '') continue;
    const wanted = name.toLowerCase();
    const namesOf = ({ name: own, aliases = [] }: M): readonly string[] => [own, ...aliases].map((one) => one.toLowerCase());
    const exact = available.filter((model) => namesOf(model).includes(wanted));
    const fitting = exact.length > 0 ? exact : available.filter((model) => namesOf(model).some((one) => one.includes(wanted)));
    if (fitting.length > 0) return fitting;
  }
  return undefined;
}
