/** A model without a network, for tests and for trying: it calls the tools that the user's message names. */

import type { ChatMessage, Model, ModelAnswer, ModelTool } from './model.ts';

const HELP = 'I am a script, not a model. Tell me which tool to use, such as: use echo {"message": "hi"}';

/** Answers `use TOOL {arguments}` by calling that tool, and then says what the tool said. Of everything else it repeats the first line. */
export function scriptedModel(): Model {
  return {
    name: 'a script',
    async answer({ messages, tools, signal, onText }) {
      signal.throwIfAborted();
      const answer = toAnswer(messages.at(-1), tools, messages.length);
      for (const part of answer.text.match(/\S+\s*/g) ?? []) {
        onText(part);
        await new Promise((resolve) => setImmediate(resolve));
        signal.throwIfAborted();
      }
      return answer;
    },
  };
}

function toAnswer(message: ChatMessage | undefined, tools: readonly ModelTool[], turn: number): ModelAnswer {
  const text = message?.content ?? '';
  if (message?.role === 'tool') return say(`The tool says: ${text}`);
  const [, wanted, args = '{}'] = /^use (\S+)\s*(\{.*\})?/s.exec(text) ?? [];
  if (wanted === undefined) return say(`${HELP}\nYou said: ${text.split('\n', 1)[0] ?? ''}`);
  const tool = tools.find(({ name }) => name === wanted) ?? tools.find(({ name }) => name.endsWith(`__${wanted}`));
  if (!tool) return say(`There is no tool "${wanted}": /tools lists them`);
  return { text: '', calls: [{ id: `call-${turn}`, name: tool.name, arguments: args }] };
}

const say = (text: string): ModelAnswer => ({ text, calls: [] });
