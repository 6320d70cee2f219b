/** Asks a verifier as a transport does, and gives what the transport would answer with. */

import { AuthChallengeError } from '@mortise/protocol';
import type { AuthInfo, TokenVerifier } from '@mortise/protocol/contracts';

export interface AskOptions {
  readonly scheme?: string | undefined;
  readonly method?: string;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export function ask(verifier: TokenVerifier, token: string | undefined, options: AskOptions = {}): Promise<AuthInfo> {
  const { scheme = 'scheme' in options ? undefined : 'Bearer', method = 'POST', url = 'https://mcp.example/mcp', headers = {} } = options;
  const header = (name: string): string | undefined => headers[name.toLowerCase()];
  return verifier.verify({ scheme, token, method, url, header }, { signal: new AbortController().signal });
}

export interface Refused {
  readonly status: number;
  readonly challenge: string;
  readonly headers: Readonly<Record<string, string>>;
}

export async function refusalOf(verifier: TokenVerifier, token: string | undefined, options?: AskOptions): Promise<Refused> {
  const error: unknown = await ask(verifier, token, options).then(
    () => new Error('it was accepted'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof AuthChallengeError)) throw error;
  const { status, challenge, headers } = error;
  return { status, challenge, headers };
}
