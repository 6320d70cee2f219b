/** Sampling with the user's approval, before the model is asked and before the server gets what it said. */

import { ProtocolError } from '@mortise/jsonrpc-core';
import type { CreateMessageRequestParams, CreateMessageResult } from '@mortise/protocol/model';
import type { AnswerContext, AnswerHandler } from '../answers/answer-options.ts';
import { InvalidAnswerError } from '../errors.ts';

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
  throw new InvalidAnswerError('approveRequest and approveResult must give true, false, or what is to be sent instead');
}
