/** `sanitizeOutput()`: removes text from results that people cannot see but models read. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { isInputRequired } from '@mortise/protocol/checks';
import { mapTexts } from '../map-texts.ts';
import type { Middleware } from './middleware.ts';

const HIDDEN = /* @__PURE__ */ (() => {
  /** Terminal escape sequences: CSI, OSC up to its end, and two-character sequences. */
  const ESCAPES = String.raw`\u001b\[[0-?]{0,64}[ -/]{0,8}[@-~]|\u001b\][^\u0007\u001b]{0,4096}(?:\u0007|\u001b\\)?|\u001b[@-Z\\^_]`;
  /** Control characters except tab and line ends. */
  const CONTROLS = String.raw`[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]`;
  /** Marks that change the direction of text, so that it displays differently from what it says. */
  const DIRECTIONS = String.raw`[\u202a-\u202e\u2066-\u2069]`;
  /** Invisible characters: zero-width spaces, word joiners, and tag characters, which can spell a hidden text. */
  const INVISIBLE = String.raw`[\u00ad\u180e\u200b\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]`;
  /** Variation selectors that follow another one. They have no visible effect and can encode hidden bytes. */
  const SELECTORS = String.raw`(?<=[\ufe00-\ufe0f\u{e0100}-\u{e01ef}])[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]+`;
  return new RegExp([ESCAPES, CONTROLS, DIRECTIONS, INVISIBLE, SELECTORS].join('|'), 'gu');
})();

/**
 * Makes middleware that removes hidden text from results of tools and prompts, and from arguments of prompts: terminal sequences, control
 * characters, direction marks and invisible characters, which can hide instructions from a person who reads along. `resources/read` is left
 * unchanged, because it may return a file.
 *
 * Does NOT judge what text says: a visible instruction stays.
 *
 * @see 2026-07-28 server/prompts#security; server/tools#security-considerations
 */
export function sanitizeOutput(): Middleware {
  return async (call, next) => {
    const isPrompt = call.method === 'prompts/get';
    if (!isPrompt && call.method !== 'tools/call') return next();
    const result = await (isPrompt ? next(clean(call.params)) : next());
    return isInputRequired(result) ? result : clean(result);
  };
}

function clean(object: JsonObject): JsonObject {
  // `blob` and `data` are encoded bytes, not text.
  return mapTexts(object, (text, name) =>
    typeof text === 'number' || name === 'blob' || name === 'data' ? text : text.replace(HIDDEN, ''),
  );
}
