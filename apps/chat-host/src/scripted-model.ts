/** A model without a network, for tests and for trying: it calls the tools that the user's message names. */

import type { ChatTool } from '@mortise/host/openai';
import type { AssistantMessage, ChatMessage, Model } from './model.ts';

const HELP = 'I am a script, not a model. Tell me which tool to use, such as: use echo {"message": "hi"}';

/** Answers `use TOOL {arguments}` by calling that tool, and then says what the tool said. Of everything else it repeats the first line. */
export function scriptedModel(): Model {
  return {
    name: 'a script',
    async answer({ messages, tools, signal, onText }) {
      signal.throwIfAborted();
      const answer = toAnswer(messages.at(-1), tools, messages.length);
      for (const part of answer.content.match(/\S+\s*/g) ?? []) {
        onText(part);
        await new Promise((resolve) => setImmediate(resolve));
        signal.throwIfAborted();
      }
      return answer;
    },
  };
}

function toAnswer(message: ChatMessage | undefined, tools: readonly ChatTool[], turn: number): AssistantMessage {
  const text = message?.content ?? '';
  if (typeof text !== 'string') return say('The tool sent an image, which a script cannot see');
  if (message?.role === 'tool') return say(`The tool says: ${text}`);
  const [, wanted, args = '{}'] = /^use (\S+)\s*(\{.*\})?/s.exec(text) ?? [];
  if (wanted === undefined) return say(`${HELP}\nYou said: ${text.split('\n', 1)[0] ?? ''}`);
  const names = tools.map(({ function: { name } }) => name);
  const name = names.find((each) => each === wanted) ?? names.find((each) => each.endsWith(`__${wanted}`));
  if (name === undefined) return say(`There is no tool "${wanted}": /tools lists them`);
  return { role: 'assistant', content: '', tool_calls: [{ id: `call-${turn}`, type: 'function', function: { name, arguments: args } }] };
}

const say = (content: string): AssistantMessage => ({ role: 'assistant', content });
