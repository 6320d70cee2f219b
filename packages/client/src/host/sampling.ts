/** Sampling: with the user's approval before the model is asked and before the server gets what it said, and the choice of a model. */

import { ProtocolError } from '@mortise/jsonrpc-core';
import type { CreateMessageRequestParams, CreateMessageResult, ModelPreferences } from '@mortise/protocol/model';
import type { AnswerContext, AnswerHandler } from '../answers/answer-options.ts';

/** What the user says of something: as it is, not at all, or this instead. */
export type Approval<T> = T | boolean;

/** Asks the user. */
export interface ApprovalOptions {
  /**
   * Shows the user what the model would be asked. `false` refuses: a legacy server gets error -1, a modern one's request is not sent again.
   * Other params are asked instead, though never for more tokens than the server asked for.
   *
   * @default nothing is shown
   */
  readonly approveRequest?:
    | ((
        params: CreateMessageRequestParams,
        context: AnswerContext,
      ) => Approval<CreateMessageRequestParams> | Promise<Approval<CreateMessageRequestParams>>)
    | undefined;
  /** Shows the user what the server would get. `false` refuses; another result is sent instead. @default nothing is shown */
  readonly approveResult?:
    | ((
        result: CreateMessageResult,
        params: CreateMessageRequestParams,
        context: AnswerContext,
      ) => Approval<CreateMessageResult> | Promise<Approval<CreateMessageResult>>)
    | undefined;
}

/** The code by which a legacy server learns that the user refused. */
const REJECTED = -1;

/**
 * Makes a handler of sampling ask the user before and after: `sampling: withApproval(handler, { approveRequest })`.
 *
 * @deprecated since 2026-07-28, with sampling: servers call a model provider's API themselves.
 * @see 2026-07-28 client/sampling#user-interaction-model
 */
export function withApproval(
  handler: AnswerHandler<CreateMessageRequestParams, CreateMessageResult>,
  { approveRequest, approveResult }: ApprovalOptions,
): AnswerHandler<CreateMessageRequestParams, CreateMessageResult> {
  return async (params, context) => {
    const approved = toApproved(params, await approveRequest?.(params, context));
    const asked = { ...approved, maxTokens: Math.min(approved.maxTokens, params.maxTokens) };
    context.signal.throwIfAborted();
    const result = await handler(asked, context);
    return toApproved(result, await approveResult?.(result, asked, context));
  };
}

function toApproved<T extends object>(given: T, approval: Approval<T> | undefined): T {
  if (approval === undefined || approval === true) return given;
  if (approval === false) throw new ProtocolError(REJECTED, 'User rejected sampling request');
  if (typeof approval === 'object' && approval !== null) return approval;
  throw new TypeError('approveRequest and approveResult must give true, false, or what is to be sent instead');
}

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
