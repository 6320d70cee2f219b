/** What servers ask of the user and the model: all of it comes to the program's handlers, with the name of the server that asks. */

import type { AnswerContext, AnswerOptions, ElicitationOptions, PageContext } from '@mortise/client';
import { type Approver, withApproval } from '@mortise/client/host';
import { ProtocolError } from '@mortise/jsonrpc-core';
import { abortable } from '@mortise/jsonrpc-core/connection';
import type { OptionTable } from '@mortise/jsonrpc-core/transport';
import type {
  CreateMessageRequestParams,
  CreateMessageResult,
  ElicitRequestFormParams,
  ElicitRequestURLParams,
  ElicitResult,
  Root,
} from '@mortise/protocol/model';

/** The second argument of a handler of the host: which server asks. */
export interface AskContext extends AnswerContext {
  /** The program's name for the server that asks. */
  readonly server: string;
}

/** Answers a request from a server. If it throws, the server gets what `AnswerHandler` of `@mortise/client` describes. */
export type AskHandler<Params, Answer, Context = AskContext> = (params: Params, context: Context) => Answer | Promise<Answer>;

/** Handlers for the two modes of elicitation. Each must do what `ElicitationOptions` of `@mortise/client` describes. */
export interface HostElicitation {
  /** Shows the user the fields of a form. @default none: servers cannot send forms */
  readonly form?: AskHandler<ElicitRequestFormParams, ElicitResult> | undefined;
  /** Asks the user whether to open a page. @default none: servers cannot send pages */
  readonly url?: AskHandler<ElicitRequestURLParams, ElicitResult, AskContext & PageContext> | undefined;
  /** Decides which pages a server may ask the user to open. @default that of `ElicitationOptions` */
  readonly urlPolicy?: ElicitationOptions['urlPolicy'];
}

/** Sampling: lets servers use the program's model. The user approves each request to the model, and each result before the server gets it. */
export interface HostSampling {
  /** Calls the model. */
  readonly createMessage: AskHandler<CreateMessageRequestParams, CreateMessageResult>;
  /** Shows the user a request: `true` allows it, `false` refuses it, changed params replace it. */
  readonly approveRequest: AskHandler<CreateMessageRequestParams, CreateMessageRequestParams | boolean>;
  /** Shows the user a result, as `approveRequest` does. */
  readonly approveResult: (
    result: CreateMessageResult,
    params: CreateMessageRequestParams,
    context: AskContext,
  ) => CreateMessageResult | boolean | Promise<CreateMessageResult | boolean>;
  /** The most tokens of one result: a larger `maxTokens` of a server is lowered. @default 4_096 */
  readonly maxTokens?: number | undefined;
  /**
   * How many requests of all servers may be in progress at once. Bounds the depth, too: a tool that the model calls for one sampling, and
   * that samples itself, counts as a further one. One server has at most all places but one.
   * A cancelled request no longer counts. @default 4
   */
  readonly maxAtOnce?: number | undefined;
}

export const ELICITATION_OPTIONS: OptionTable<HostElicitation> = { form: 'function', url: 'function', urlPolicy: 'object' };

export const SAMPLING_OPTIONS: OptionTable<HostSampling> = {
  createMessage: 'function',
  approveRequest: 'function',
  approveResult: 'function',
  maxTokens: 1,
  maxAtOnce: 1,
};

export interface AskOptions {
  /** See `HostOptions.elicitation`. */
  readonly elicitation?: AskHandler<ElicitRequestFormParams, ElicitResult> | HostElicitation | undefined;
  /** See `HostOptions.sampling`. */
  readonly sampling?: HostSampling | undefined;
  /** See `HostOptions.roots`. */
  readonly roots?: readonly Root[] | ((server: string) => readonly Root[] | Promise<readonly Root[]>) | undefined;
  /** See `HostOptions.asksPerMinute`. */
  readonly asksPerMinute?: number | undefined;
}

/** The error code of a request that a bound refuses. It is in the range that JSON-RPC leaves to implementations. */
const TOO_MANY = -32000;

/** Returns a function that makes the answer options for the clients of a server from the host's handlers. */
export function createAsks({ elicitation, sampling, roots, asksPerMinute }: AskOptions): (server: string) => AnswerOptions {
  const places = new SamplingPlaces(sampling?.maxAtOnce ?? 4);
  return (server) => ({
    asksPerMinute,
    elicitation: elicitation && toElicitation(server, elicitation),
    sampling: sampling && toSampling(server, sampling, places),
    roots: typeof roots === 'function' ? async () => roots(server) : roots,
  });
}

/** Counts the samplings in progress. One server may have all places but one, so that the others can always sample. */
class SamplingPlaces {
  readonly #max: number;
  readonly #taken = new Map<string, number>();

  constructor(max: number) {
    this.#max = max;
  }

  /** @returns A function that gives the place back. @throws {ProtocolError} -32000: too many are in progress. */
  take(server: string): () => void {
    const own = this.#taken.get(server) ?? 0;
    const all = [...this.#taken.values()].reduce((sum, count) => sum + count, 0);
    if (all >= this.#max || own >= Math.max(1, this.#max - 1))
      throw new ProtocolError(TOO_MANY, `Too many sampling requests at once: this client allows ${this.#max} (option sampling.maxAtOnce)`);
    this.#taken.set(server, own + 1);
    return () => this.#taken.set(server, (this.#taken.get(server) ?? 1) - 1);
  }
}

function toSampling(server: string, options: HostSampling, places: SamplingPlaces): NonNullable<AnswerOptions['sampling']> {
  const { createMessage, approveRequest, approveResult, maxTokens = 4_096 } = options;
  const named = (context: AnswerContext): AskContext => ({ ...context, server });
  const user: Approver = {
    approveRequest: (params, context) => approveRequest(params, named(context)),
    approveResult: (result, params, context) => approveResult(result, params, named(context)),
  };
  const approved = withApproval((params, context) => createMessage(params, named(context)), user);
  return async (params, context) => {
    const giveBack = places.take(server);
    try {
      const answer = Promise.resolve(approved({ ...params, maxTokens: Math.min(params.maxTokens, maxTokens) }, context));
      // A handler that does not look at the signal keeps its place no longer.
      return await abortable(answer, context.signal);
    } finally {
      giveBack();
    }
  };
}

function toElicitation(server: string, given: NonNullable<AskOptions['elicitation']>): ElicitationOptions {
  const { form, url, urlPolicy } = typeof given === 'function' ? { form: given, url: undefined, urlPolicy: undefined } : given;
  return {
    form: form && ((params, context) => form(params, { ...context, server })),
    url: url && ((params, context) => url(params, { ...context, server })),
    urlPolicy,
  };
}
