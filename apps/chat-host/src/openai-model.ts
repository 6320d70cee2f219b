/** A model behind an OpenAI-compatible endpoint (`/chat/completions`), with its answers streamed. */

import { SseDecoder } from '@mortise/transport-http';
import type { AssistantMessage, Model, ModelRequest } from './model.ts';

export interface OpenAiOptions {
  /** Such as `https://api.openai.com/v1` or `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly model: string;
}

/** A part of an answer, as far as it is read. In an answer that is not streamed, `message` stands in place of `delta`. */
interface Chunk {
  readonly error?: { readonly message?: string } | undefined;
  readonly choices?: readonly {
    readonly delta?: Delta | null;
    readonly message?: Delta | null;
    readonly finish_reason?: string | null;
  }[];
}

interface Delta {
  readonly content?: string | null;
  readonly tool_calls?: readonly {
    readonly index?: number;
    readonly id?: string;
    readonly function?: { readonly name?: string; readonly arguments?: string };
  }[];
}

export function openAiModel({ baseUrl, apiKey, model }: OpenAiOptions): Model {
  const url = `${baseUrl.replace(/\/+$/, '')}/chat/completions`;
  const headers = { 'content-type': 'application/json', ...(apiKey && { authorization: `Bearer ${apiKey}` }) };
  return {
    name: model,
    async answer(request) {
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(toBody(model, request)), signal: request.signal });
      if (!response.ok) throw new Error(`the model's endpoint answered ${response.status}: ${(await response.text()).slice(0, 500)}`);
      const reader = new AnswerReader(request.onText);
      if (response.headers.get('content-type')?.includes('json')) reader.add(await response.text());
      else await readEvents(response, reader);
      return reader.end();
    },
  };
}

async function readEvents(response: Response, reader: AnswerReader): Promise<void> {
  const decoder = new SseDecoder();
  for await (const bytes of response.body ?? []) for (const { data } of decoder.push(bytes)) if (data !== '[DONE]') reader.add(data);
}

/** Puts the parts of an answer together. */
class AnswerReader {
  readonly #onText: (text: string) => void;
  readonly #calls = new Map<number, { readonly id: string; readonly name: string; readonly arguments: string }>();
  #text = '';
  #isFinished = false;

  constructor(onText: (text: string) => void) {
    this.#onText = onText;
  }

  add(json: string): void {
    const { error, choices = [] } = JSON.parse(json) as Chunk;
    if (error) throw new Error(`the model's endpoint reported: ${error.message ?? json.slice(0, 500)}`);
    const [choice] = choices;
    if (choice?.finish_reason) this.#isFinished = true;
    const { content, tool_calls: calls = [] } = choice?.delta ?? choice?.message ?? {};
    if (content) {
      this.#text += content;
      this.#onText(content);
    }
    for (const [position, { index = position, id, function: part }] of calls.entries()) {
      const known = this.#calls.get(index) ?? { id: `call-${index}`, name: '', arguments: '' };
      this.#calls.set(index, {
        id: id || known.id,
        name: known.name + (part?.name ?? ''),
        arguments: known.arguments + (part?.arguments ?? ''),
      });
    }
  }

  /** @throws {Error} The answer was cut off: its tool calls may lack something. */
  end(): AssistantMessage {
    if (!this.#isFinished) throw new Error("the model's answer was cut off: send the message again");
    const calls = [...this.#calls.values()].map(({ id, ...called }) => ({ id, type: 'function', function: called }));
    return { role: 'assistant', content: this.#text, ...(calls.length > 0 && { tool_calls: calls }) };
  }
}

function toBody(model: string, { messages, tools, maxTokens }: ModelRequest): object {
  return { model, stream: true, messages, ...(tools.length > 0 && { tools }), ...(maxTokens !== undefined && { max_tokens: maxTokens }) };
}
