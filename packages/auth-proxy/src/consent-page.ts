/** The HTML pages for users: the consent page and the error page. */

import type { ProxyClient } from './clients.ts';
import type { UpstreamOptions } from './options.ts';
import { isLocalRedirect } from './registration.ts';

/** The content of the consent page. All texts are untrusted, so they are escaped. */
export interface ConsentView {
  readonly serverName: string;
  readonly client: ProxyClient;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  readonly upstream: Pick<UpstreamOptions, 'name' | 'scopes'>;
  /** The URL that the consent form is sent to. */
  readonly action: string;
  /** The encrypted authorization request, which the submitted form sends back. */
  readonly request: string;
}

/** Renders the consent page. @see 2026-07-28 security_best_practices#confused-deputy-problem */
export function renderConsentPage(view: ConsentView): string {
  const { client, upstream } = view;
  const host = new URL(view.redirectUri).host;
  const where = isLocalRedirect(view.redirectUri)
    ? `<p class="warning">The result of the sign-in is sent to a program on <strong>this computer</strong> (<code>${escapeHtml(host)}</code>). Any program can
       give itself this name: allow it only if you have just started the sign-in yourself.</p>`
    : `<p>The result of the sign-in is sent to <strong>${escapeHtml(host)}</strong>.</p>`;
  return renderPage(
    `Allow ${client.name}?`,
    `<h1>Allow <em>${escapeHtml(client.name)}</em> to use ${escapeHtml(view.serverName)} as you?</h1>
     <p>The program gave itself this name${client.documentHost === undefined ? '; it is not verified' : ''}.</p>
     ${where}
     <dl>
       <dt>Redirect address</dt><dd><code>${escapeHtml(view.redirectUri)}</code></dd>
       <dt>Program</dt><dd><code>${escapeHtml(client.documentHost ?? client.clientId)}</code></dd>
       <dt>May do here</dt><dd>${renderScopes(view.scopes)}</dd>
       <dt>You will sign in with</dt><dd>${escapeHtml(upstream.name)}, which is asked for: ${renderScopes(upstream.scopes)}</dd>
     </dl>
     <form method="post" action="${escapeHtml(view.action)}">
       <input type="hidden" name="request" value="${escapeHtml(view.request)}">
       <button name="decision" value="deny" autofocus>Cancel</button>
       <button name="decision" value="allow">Allow</button>
     </form>`,
  );
}

/** Renders the error page. @param message One sentence, without the final period. */
export function renderErrorPage(message: string): string {
  return renderPage('Sign-in failed', `<h1>Sign-in failed</h1><p>${escapeHtml(message)}.</p><p>Go back to the program and try again.</p>`);
}

function renderScopes(scopes: readonly string[]): string {
  if (scopes.length === 0) return 'everything that needs no further permission';
  return scopes.map((scope) => `<code>${escapeHtml(scope)}</code>`).join(', ');
}

function renderPage(title: string, body: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title>
<style>body{font:1rem/1.5 system-ui,sans-serif;max-width:40rem;margin:3rem auto;padding:0 1rem}dt{font-weight:600}
dd{margin:0 0 .75rem;overflow-wrap:anywhere}.warning{border-left:.3rem solid #b50;padding-left:.75rem}button{font:inherit;padding:.4rem 1.2rem}</style>
</head><body>${body}</body></html>`;
}

/** Characters that are invisible or change the order of others: controls, U+202E and its kind, line separators. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Escapes markup, and shows invisible characters as `\u{202e}`, so that a name cannot look like another. */
function escapeHtml(text: string): string {
  const visible = text.replace(INVISIBLE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
  return visible.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
