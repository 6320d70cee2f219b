/**
 * Gives a client's requests their authorization.
 *
 * A1  `headers` is asked before every request and is quick where a token is at hand.
 * A2  `onChallenge` is asked after a 401 or 403, at most three times a call; `retry` promises that something changed.
 * A3  Calls at once share one sign-in or refresh.
 */

/** What a server said when it refused a request. */
export interface Challenge {
  readonly status: number;
  readonly url: string;
  header(name: string): string | undefined;
  /** Counts from 1 within one call. */
  readonly attempt: number;
  /** What `headers` gave the refused request: another call may have come by something newer since. By lower-case name. */
  readonly given?: Readonly<Record<string, string>>;
}

/** Gives requests their authorization. A1 to A3 above. */
export interface Authorizer {
  headers(
    request: { readonly method: string; readonly url: string },
    options?: { readonly signal?: AbortSignal },
  ): Promise<Readonly<Record<string, string>>>;
  onChallenge(challenge: Challenge, options?: { readonly signal?: AbortSignal }): Promise<'retry' | 'fail'>;
}
