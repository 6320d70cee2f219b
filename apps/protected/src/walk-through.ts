/** What a user goes through, from the first sign-in to the last sign-out. Each step checks what it got. */

import assert from 'node:assert/strict';
import { loopbackSignIn, nodeOAuth, openBrowser } from '@mortise/auth-oauth/node';
import { McpClient } from '@mortise/client';
import type { JsonObject } from '@mortise/jsonrpc-core';
import { httpTransport } from '@mortise/transport-http/client';

export interface WalkThroughOptions {
  readonly url: string;
  /** Binds the tokens to a key of this program. */
  readonly dpop?: boolean;
  /** Takes the user to a page; the default is the browser of the machine. */
  readonly open?: ((url: URL) => Promise<void> | void) | undefined;
  /** Resolves once the access token has expired. */
  readonly untilExpired: () => Promise<void>;
  readonly say: (line: string) => void;
}

/** @returns How often the user was sent to a page. */
export async function walkThrough({ url, dpop = false, open, untilExpired, say }: WalkThroughOptions): Promise<number> {
  let visits = 0;
  const visit = async (page: URL): Promise<void> => {
    visits += 1;
    say(`      -> sign-in page ${visits}: ${page.origin}${page.pathname}, scope "${page.searchParams.get('scope')}"`);
    await (open ?? openBrowser)(page);
  };
  const authorizer = nodeOAuth(url, { clientName: 'Notebook on the command line', signIn: loopbackSignIn({ open: visit }), dpop });

  say('1. connect, which signs in');
  const client = await McpClient.connect(httpTransport(url, { authorizer }), { name: 'notebook-cli', version: '1.0.0' });
  try {
    const call = async (tool: string, input: JsonObject = {}): Promise<string> => {
      const { content, isError } = await client.callTool(tool, input);
      const [first] = content;
      assert.ok(isError !== true && first?.type === 'text');
      say(`      ${tool}: ${first.text}`);
      return first.text;
    };
    say('2. call a tool');
    assert.match(await call('list_notes'), /has 0 notes/);
    assert.equal(visits, 1);

    say('3. call a tool that needs a scope more: step up');
    await call('add_note', { text: 'buy bread' });
    assert.equal(visits, 2);
    assert.match(await call('list_notes'), /buy bread/);

    say('4. the access token expires: the next call refreshes it');
    await untilExpired();
    assert.match(await call('list_notes'), /buy bread/);
    assert.equal(visits, 2);

    say('5. sign out, which revokes the tokens: the next call signs in again');
    await authorizer.signOut();
    assert.match(await call('list_notes'), /buy bread/);
    assert.equal(visits, 3);
    await authorizer.signOut();
    return visits;
  } finally {
    await client.close();
  }
}
