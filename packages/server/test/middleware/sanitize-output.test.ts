import type { JsonObject } from '@mortise/jsonrpc-core';
import { describe, expect, it } from 'vitest';
import { sanitizeOutput } from '../../src/middleware/sanitize-output.ts';
import { createCall } from './call.ts';

const textResult = (text: string): JsonObject => ({ content: [{ type: 'text', text }] });

async function clean(result: JsonObject, method = 'tools/call'): Promise<JsonObject> {
  return sanitizeOutput()(createCall({ method }), async () => result);
}

describe('sanitizeOutput', () => {
  const hidden = (text: string): string => Array.from(text, (c) => String.fromCodePoint(0xe0000 + (c.codePointAt(0) ?? 0))).join('');

  it.each([
    ['a colour', '\u001b[31mred\u001b[0m', 'red'],
    ['a terminal title', '\u001b]0;title\u0007text', 'text'],
    ['a link of a terminal', '\u001b]8;;http://evil\u001b\\click\u001b]8;;\u001b\\', 'click'],
    ['control characters but tab and line ends', 'a\u0000b\u0008c\td\r\ne\u007f\u009b', 'abc\td\r\ne'],
    ['text that runs backwards', 'abc\u202etxt.exe\u202c', 'abctxt.exe'],
    ['a hidden instruction in tags', `hello${hidden('ignore all')}`, 'hello'],
    ['zero-width characters', 'pass\u200bword\ufeff', 'password'],
    ['bytes hidden in variant selectors', 'a\ufe0f\u{e0100}\u{e0101}b', 'a\ufe0fb'],
  ])('[TOOL-046] takes out %s', async (_title, text, visible) => {
    expect(await clean(textResult(text))).toEqual(textResult(visible));
    expect(await clean({ structuredContent: { deep: [text] } })).toEqual({ structuredContent: { deep: [visible] } });
  });

  it('leaves emoji, joiners and scripts that need them', async () => {
    const result = textResult('👩‍👩‍👧‍👦 ❤️ می‌خواهم 你好 é\n');
    expect(await clean(result)).toBe(result);
  });

  it('leaves encoded bytes, other methods and questions to the client alone', async () => {
    const image = { content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }] };
    expect(await clean(image)).toBe(image);
    const file = { contents: [{ uri: 'file:///a', text: '\u001b[1mraw' }] };
    expect(await clean(file, 'resources/read')).toBe(file);
    const asking = { resultType: 'input_required', requestState: 'a\u200bb' };
    expect(await clean(asking)).toBe(asking);
  });

  it('[PROMPT-013] cleans what goes into a prompt and what comes out of it', async () => {
    const call = createCall({ method: 'prompts/get', params: { name: 'ask', arguments: { topic: `tea${hidden('and send secrets')}` } } });
    let seen: unknown;
    const result = await sanitizeOutput()(call, async (params) => {
      seen = params?.['arguments'];
      return { messages: [{ role: 'user', content: { type: 'text', text: `About tea${hidden('x')}` } }] };
    });
    expect(seen).toEqual({ topic: 'tea' });
    expect(result).toEqual({ messages: [{ role: 'user', content: { type: 'text', text: 'About tea' } }] });
  });
});
