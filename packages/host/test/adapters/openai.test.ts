/** The tools of a host for OpenAI's two APIs, with the real library against a scripted endpoint. */

import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { answerChatCalls, answerResponsesCalls, chatTools, responsesTools } from '../../src/openai.ts';
import { openLab, PIXEL, serveModel } from './lab.ts';

const IMAGE = `data:image/png;base64,${PIXEL}`;

const chatCall = (id: string, name: string, args: string): object => ({ id, type: 'function', function: { name, arguments: args } });
const assistant = (message: object): object => ({
  id: 'x',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', ...message } }],
});

describe('Chat Completions', () => {
  it('use tools in two steps: the answers hold structured content, errors and images', async () => {
    const { host } = openLab();
    const { url, requests } = await serveModel([
      assistant({ content: null, tool_calls: [chatCall('c1', 'lab__add', '{"a":1,"b":2}')] }),
      assistant({ content: null, tool_calls: [chatCall('c2', 'lab__draw', ''), chatCall('c3', 'lab__fail', '{}')] }),
      assistant({ content: 'done' }),
    ]);
    const openai = new OpenAI({ apiKey: 'none', baseURL: url });
    const tools = await chatTools(host);
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Go' }];
    for (;;) {
      const { choices } = await openai.chat.completions.create({ model: 'scripted', messages, tools });
      const message = choices[0]?.message;
      if (!message?.tool_calls) break;
      messages.push(message, ...(await answerChatCalls(host, message.tool_calls)));
    }
    expect((requests[0] as { tools: unknown[] }).tools[0]).toEqual({
      type: 'function',
      function: {
        name: 'lab__add',
        description: 'Adds two numbers',
        parameters: expect.objectContaining({ type: 'object', required: ['a', 'b'] }) as object,
      },
    });
    expect(
      (requests[2] as { messages: unknown[] }).messages.filter((message) => (message as { role: string }).role !== 'assistant'),
    ).toEqual([
      { role: 'user', content: 'Go' },
      { role: 'tool', tool_call_id: 'c1', content: '{"sum":3}' },
      { role: 'tool', tool_call_id: 'c2', content: 'a dot\n\n[an image, which follows in a message of the user]' },
      { role: 'tool', tool_call_id: 'c3', content: expect.stringMatching(/^Error: the disk is full/u) as string },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Result of the tool lab__draw:' },
          { type: 'image_url', image_url: { url: IMAGE } },
          { type: 'text', text: 'Result of the tool lab__fail:' },
          { type: 'image_url', image_url: { url: IMAGE } },
        ],
      },
    ]);
  });

  it('get an answer to each call that cannot be made, whatever the model wrote', async () => {
    const { host } = openLab();
    const calls = [
      ['a', 'lab__add', '{"a":1'],
      ['b', 'lab__add', '[1]'],
      ['c', 'lab__none', '{}'],
      ['d', 'lab__add', '{"a":"x"}'],
    ] as const;
    const made = calls.map(([id, name, args]) => ({ id, type: 'function', function: { name, arguments: args } }));
    const answers = await answerChatCalls(host, [...made, { id: 'e', type: 'custom' }]);
    expect(answers.map((answer) => (answer.role === 'tool' ? [answer.tool_call_id, answer.content] : []))).toEqual([
      ['a', 'Error: the arguments for "lab__add" must be a JSON object: {"a":1'],
      ['b', 'Error: the arguments for "lab__add" must be a JSON object: [1]'],
      ['c', 'Error: the server "lab" has no tool "lab__none": see host.tools()'],
      ['d', expect.stringMatching(/^Error: tool "add": argument/u) as string],
    ]);
    expect(await answerChatCalls(host, undefined)).toEqual([]);
  });
});

describe('Responses', () => {
  it('use tools in two steps: images and PDF files are in the answers', async () => {
    const { host } = openLab();
    const called = (call_id: string, name: string, args: string): object => ({ type: 'function_call', call_id, name, arguments: args });
    const { url, requests } = await serveModel([
      { id: 'r1', object: 'response', output: [called('c1', 'lab__add', '{"a":1,"b":2}')] },
      {
        id: 'r2',
        object: 'response',
        output: [called('c2', 'lab__draw', '{}'), called('c3', 'lab__fail', '{}'), called('c4', 'lab__files', '{}')],
      },
      { id: 'r3', object: 'response', output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'done' }] }] },
    ]);
    const openai = new OpenAI({ apiKey: 'none', baseURL: url });
    const tools = await responsesTools(host);
    let answers: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'Go' }];
    let previous: string | undefined;
    while (answers.length > 0) {
      const { id, output } = await openai.responses.create({
        model: 'scripted',
        input: answers,
        tools,
        ...(previous !== undefined && { previous_response_id: previous }),
      });
      answers = await answerResponsesCalls(host, output);
      previous = id;
    }
    expect(requests).toHaveLength(3);
    expect((requests[0] as { tools: unknown[] }).tools[0]).toMatchObject({ type: 'function', name: 'lab__add', strict: false });
    expect((requests[1] as { input: unknown }).input).toEqual([{ type: 'function_call_output', call_id: 'c1', output: '{"sum":3}' }]);
    const image = { type: 'input_image', image_url: IMAGE, detail: 'auto' };
    expect((requests[2] as { input: unknown }).input).toEqual([
      { type: 'function_call_output', call_id: 'c2', output: [{ type: 'input_text', text: 'a dot' }, image] },
      {
        type: 'function_call_output',
        call_id: 'c3',
        output: [{ type: 'input_text', text: 'Error:' }, { type: 'input_text', text: 'the disk is full' }, image],
      },
      {
        type: 'function_call_output',
        call_id: 'c4',
        output: [
          { type: 'input_text', text: '[a file of the type audio/wav, which is not shown]' },
          { type: 'input_file', filename: 'result.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' },
          { type: 'input_text', text: 'doc://note:\na note' },
          { type: 'input_text', text: 'Resource: doc://more (more)' },
        ],
      },
    ]);
  });

  it('get an answer to each call that cannot be made, whatever the model wrote', async () => {
    const { host } = openLab();
    const answers = await answerResponsesCalls(host, [
      { type: 'function_call', call_id: 'a', name: '', arguments: '{}' },
      { type: 'function_call', call_id: 'b', arguments: '{}' },
      { type: 'function_call', call_id: '', name: 'lab__nothing', arguments: '{' },
      { type: 'reasoning' },
    ]);
    expect(answers).toEqual([
      { type: 'function_call_output', call_id: 'a', output: expect.stringMatching(/^Error: /u) as string },
      { type: 'function_call_output', call_id: 'b', output: expect.stringMatching(/^Error: /u) as string },
      { type: 'function_call_output', call_id: '', output: 'Error: the arguments for "lab__nothing" must be a JSON object: {' },
    ]);
  });

  it('report progress with the call, and reject when they are cancelled', async () => {
    const { host, waiting, cancelled } = openLab();
    const item = (name: string): { type: string; call_id: string; name: string; arguments: string } => ({
      type: 'function_call',
      call_id: name,
      name,
      arguments: '{}',
    });
    const progress: unknown[] = [];
    await answerResponsesCalls(host, [item('lab__steps')], { onProgress: (...update) => progress.push(update) });
    expect(progress).toMatchObject([
      [
        { progress: 1, total: 2, message: 'half' },
        { id: 'lab__steps', name: 'lab__steps' },
      ],
    ]);
    const broken = { onProgress: () => expect.unreachable('a mistake of the program') };
    expect(await answerResponsesCalls(host, [item('lab__steps')], broken)).toMatchObject([{ output: 'whole' }]);
    const controller = new AbortController();
    const answering = answerResponsesCalls(host, [item('lab__wait'), item('lab__nothing')], { signal: controller.signal });
    await waiting;
    controller.abort(new Error('the user left'));
    await expect(answering).rejects.toThrow('the user left');
    await cancelled;
  });
});
