/** Sampling: the user's approval of requests and results, and the choice of a model. */

import { ProtocolError } from '@mortise/jsonrpc-core';
import type { CreateMessageRequestParams, CreateMessageResult, ModelPreferences } from '@mortise/protocol/model';
import type { AnswerContext, AnswerHandler } from '../answers/answer-options.ts';

/** The user's decision about a sampling request or result: `true` allows it, `false` refuses it, another value replaces it. */
export type Approval<T> = T | boolean;

/** Asks the user for approval before the model is called, and before its result is sent to the server. */
export interface Approver {
  /** Asks the user to approve the request to the model. If the user edits it, `maxTokens` cannot rise above the server's value. */
  approveRequest(
    params: CreateMessageRequestParams,
    context: AnswerContext,
  ): Approval<CreateMessageRequestParams> | Promise<Approval<CreateMessageRequestParams>>;
  /** Asks the user to approve the model's result, before it is sent to the server. */
  approveResult(
    result: CreateMessageResult,
    params: CreateMessageRequestParams,
    context: AnswerContext,
  ): Approval<CreateMessageResult> | Promise<Approval<CreateMessageResult>>;
}

/** The JSON-RPC error code that a legacy server gets if the user refuses. */
const REJECTED = -1;

/**
 * Wraps a sampling handler so that the user approves request and result: `sampling: withApproval(handler, { approveRequest, approveResult })`.
 *
 * If the user refuses, a legacy server gets error -1. In the modern era the client's own request fails.
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

/** A model that the program can use, with ratings from 0 to 1 for cost, speed and intelligence. */
export interface ModelFacts {
  readonly name: string;
  /** Other names under which a server's hints may mean the model, such as its family, or comparable models of other providers. */
  readonly aliases?: readonly string[] | undefined;
  /** How cheap the model is, from 0 to 1. @default 0.5 */
  readonly cheapness?: number | undefined;
  /** How fast the model is, from 0 to 1. @default 0.5 */
  readonly speed?: number | undefined;
  /** How capable the model is, from 0 to 1. @default 0.5 */
  readonly intelligence?: number | undefined;
}

/**
 * Chooses the available model that fits the server's preferences best.
 *
 * The first hint that matches any model narrows the choice to the matching models; an exact name takes precedence over a part of a name.
 * The priorities then choose among them, and the earlier model wins a tie.
 *
 * @returns undefined only if `available` is empty.
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

/** Returns the models that match the first hint that any model matches; all models if no hint matches. */
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
