/**
 * Tools and a prompt whose questions end the exchange in the modern era. All but one are written as straight-line code: that
 * the handler runs again with the answers, and what travels in between, is the library's part.
 */

import { type HandlerContext, inputRequired, type McpServer } from '@mortise/server';
import { z } from 'zod';

const MAX_TOKENS = 100;

export function addInputRequired(server: McpServer): void {
  addOneQuestionTools(server);
  addSeveralQuestionsTools(server);
  server.registerTool('test_input_required_result_request_state', { description: 'Remembers a step while it asks' }, async (ctx) => {
    const remembered = await ctx.once('remember', () => 'state-ok');
    await ctx.elicit(confirmation, { key: 'confirm' });
    return remembered;
  });
  server.registerTool('test_input_required_result_tampered_state', { description: 'Seals what it remembers' }, async (ctx) => {
    const { action } = await ctx.elicit(confirmation, { key: 'confirm' });
    return `action: ${action}`;
  });
  server.registerPrompt('test_input_required_result_prompt', { description: 'Asks for a context first' }, async (ctx) => {
    const requestedSchema = { context: z.string() };
    const answer = await ctx.elicit({ message: 'What is the context?', requestedSchema }, { key: 'user_context' });
    return `Context: ${answer.content?.context ?? 'none'}`;
  });
}

const confirmation = { message: 'Please confirm.', requestedSchema: { ok: z.boolean() } };

const nameRequest = {
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message: 'What is your name?',
    requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  },
} as const;

const namedAnswer = z.object({ action: z.literal('accept'), content: z.object({ name: z.string() }) });

const askName = (ctx: HandlerContext) =>
  ctx.elicit({ message: 'What is your name?', requestedSchema: { name: z.string() } }, { key: 'user_name' });

const askCapital = (ctx: HandlerContext) =>
  ctx.sample(
    { messages: [{ role: 'user', content: { type: 'text', text: 'What is the capital of France?' } }], maxTokens: MAX_TOKENS },
    { key: 'capital_question' },
  );

function addOneQuestionTools(server: McpServer): void {
  // Written by hand, because the suite also sends answers to this one before anything was asked.
  server.registerTool('test_input_required_result_elicitation', { description: 'Asks the user for a name' }, (ctx) => {
    const answer = namedAnswer.safeParse(ctx.inputResponses?.['user_name']);
    if (!answer.success) return inputRequired({ inputRequests: { user_name: nameRequest } });
    return `Hello, ${answer.data.content.name}!`;
  });
  server.registerTool('test_input_required_result_sampling', { description: "Asks the client's model" }, async (ctx) => {
    const { content } = await askCapital(ctx);
    return `The model said: ${JSON.stringify(content)}`;
  });
  server.registerTool('test_input_required_result_list_roots', { description: 'Asks for the roots' }, async (ctx) => {
    const { roots } = await ctx.listRoots({ key: 'client_roots' });
    return `Roots: ${roots.map(({ uri }) => uri).join(', ')}`;
  });
}

function addSeveralQuestionsTools(server: McpServer): void {
  server.registerTool('test_input_required_result_multiple_inputs', { description: 'Asks three things at once' }, async (ctx) => {
    const [name, capital, { roots }] = await Promise.all([askName(ctx), askCapital(ctx), ctx.listRoots({ key: 'client_roots' })]);
    return `${name.content?.name ?? 'stranger'}, ${JSON.stringify(capital.content)}, ${roots.length} roots`;
  });
  server.registerTool('test_input_required_result_multi_round', { description: 'Asks one thing after another' }, async (ctx) => {
    const first = await ctx.elicit({ message: 'Step 1: your name?', requestedSchema: { name: z.string() } }, { key: 'step1' });
    const second = await ctx.elicit({ message: 'Step 2: your colour?', requestedSchema: { color: z.string() } }, { key: 'step2' });
    return `${first.content?.name ?? 'Nobody'} likes ${second.content?.color ?? 'no colour'}.`;
  });
  server.registerTool('test_input_required_result_capabilities', { description: 'Asks only what the client can' }, async (ctx) => {
    const { elicitation, sampling } = ctx.client.capabilities;
    const [name, capital] = await Promise.all([elicitation && askName(ctx), sampling && askCapital(ctx)]);
    return `${name?.content?.name ?? 'nobody'}, ${JSON.stringify(capital?.content ?? 'nothing')}`;
  });
}
