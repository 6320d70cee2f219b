/** Sampling: the user's approval of what a model is asked and of what it answers, and the choice of a model. */

import { ProtocolError } from '@mortise/jsonrpc-core';
import type { CreateMessageRequestParams, CreateMessageResult, ModelPreferences } from '@mortise/protocol/model';
import type { AnswerContext, AnswerHandler } from '../answers/answer-options.ts';

/** What the user decides on something: send it as it is, do not send it, or send this instead. */
export type Approval<T> = T | boolean;

/** Asks the user, before the model is asked and before its answer is sent. */
export interface Approver {
  /** Shows the user what the model would be asked. Edited params never ask for more tokens than the server did. */
  approveRequest(
    params: CreateMessageRequestParams,
    context: AnswerContext,
  ): Approval<CreateMessageRequestParams> | Promise<Approval<CreateMessageRequestParams>>;
  /** Shows the user what the server would get. */
  approveResult(
    result: CreateMessageResult,
    params: CreateMessageRequestParams,
    context: AnswerContext,
  ): Approval<CreateMessageResult> | Promise<Approval<CreateMessageResult>>;
}

/** The code by which a legacy server learns that the user refused. */
const REJECTED = -1;

/**
 * Makes a handler of sampling ask the user before and after: `sampling: withApproval(handler, { approveRequest, approveResult })`.
 *
 * A refusal answers a legacy server with error -1; a modern server's request is not sent again.
 *
 * @deprecated since 2026-07-28, with sampling: servers call a model provider's API themselves.
 * @see 2026-07-28 client/sampling#user-interaction-model
 */
export function withApproval(
  handler: AnswerHandler<CreateMessageRequestParams, CreateMessageResult>,
  user: Approver,
): AnswerHandler<CreateMessageRequestParams, CreateMessageResult> {
  return async (params, context) => {
    const approved = toApproved(params, await user.approveRequest(params, context));
    const asked = { ...approved, maxTokens: Math.min(approved.maxTokens, params.maxTokens) };
    context.signal.throwIfAborted();
    const result = await handler(asked, context);
    return toApproved(result, await user.approveResult(result, asked, context));
  };
}

function toApproved<T extends object>(given: T, approval: Approval<T>): T {
  if (approval === false) throw new ProtocolError(REJECTED, 'User rejected sampling request');
  return approval === true ? given : approval;
}

/** A model that the program can use, and its qualities. */
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
  const left = findHinted(hints, available);
  return left.reduce<M | undefined>((best, one) => (best === undefined || score(one) > score(best) ? one : best), undefined);
}

/** The models that the first fitting hint names; all where none fits. */
function findHinted<M extends ModelFacts>(hints: NonNullable<ModelPreferences['hints']>, available: readonly M[]): readonly M[] {
  const named = available.map((model) => ({ model, names: [model.name, ...(model.aliases ?? [])].map((name) => name.toLowerCase()) }));
  for (const { name } of hints) {
    const hint = name?.toLowerCase() ?? '';
    if (hint === '') continue;
    const exact = named.filter(({ names }) => names.includes(hint));
    const fitting = exact.length > 0 ? exact : named.filter(({ names }) => names.some((one) => one.includes(hint)));
    if (fitting.length > 0) return fitting.map(({ model }) => model);
  }
  return available;
}
