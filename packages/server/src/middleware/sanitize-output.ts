/** `sanitizeOutput()`: takes out of text what a person would not see and a model would. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { isInputRequired } from '@mortise/protocol/checks';
import { mapTexts } from '../map-texts.ts';
import type { Middleware } from './middleware.ts';

const HIDDEN = /* @__PURE__ */ (() => {
  /** Terminal sequences: CSI, OSC up to its end, and the two-character ones. */
  const ESCAPES = String.raw`\u001b\[[0-?]{0,64}[ -/]{0,8}[@-~]|\u001b\][^\u0007\u001b]{0,4096}(?:\u0007|\u001b\\)?|\u001b[@-Z\\^_]`;
  /** Control characters but for tab and line ends. */
  const CONTROLS = String.raw`[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]`;
  /** Marks that turn the direction of text around, so that it reads otherwise than it is. */
  const DIRECTIONS = String.raw`[\u202a-\u202e\u2066-\u2069]`;
  /** Characters without any look: zero-width spaces, word joiners, and the tags that can spell a whole hidden text. */
  const INVISIBLE = String.raw`[\u00ad\u180e\u200b\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]`;
  /** A second and further variant selector in a row chooses nothing: such runs hide bytes. */
  const SELECTORS = String.raw`(?<=[\ufe00-\ufe0f\u{e0100}-\u{e01ef}])[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]+`;
  return new RegExp([ESCAPES, CONTROLS, DIRECTIONS, INVISIBLE, SELECTORS].join('|'), 'gu');
})();

/**
 * Removes terminal sequences, control characters, marks that reverse the direction of text, and invisible characters (with which
 * instructions are smuggled past the person who reads along) from results of tools and prompts, and from the arguments of prompts. What
 * `resources/read` gives may be a file, which should arrive as it is.
 *
 * Does NOT judge what text says: an instruction in plain sight stays.
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
  // `blob` and `data` are encoded bytes: nothing in them is text.
  return mapTexts(object, (text, name) =>
    typeof text === 'number' || name === 'blob' || name === 'data' ? text : text.replace(HIDDEN, ''),
  );
}
