/** What servers ask the user: forms, pages to open, and the use of the model. */

import { describeForm, describePage, type FormField } from '@mortise/client/host';
import type { AskContext, HostElicitation, HostSampling } from '@mortise/host';
import type { CreateMessageRequestParams, ElicitContent, ElicitRequestFormParams, ElicitResult } from '@mortise/protocol/model';
import { clean, cleanAll, cleanLine } from './clean.ts';
import type { Model, TextMessage } from './model.ts';
import { blockText } from './results.ts';
import type { Screen } from './screen.ts';

/** How many characters of a request or result the user is asked to read. */
const MAX_READ = 10_000;

export function answerQuestions(screen: Screen): HostElicitation {
  return {
    form: (params, context) => answerForm(screen, params, context),
    async url({ message, url }, { server, signal }) {
      const page = describePage(url);
      const lines = [heading(screen, server, 'wants you to open a page'), cleanAll(message), `    ${clean(page.url)}`];
      lines.push(`    at ${clean(page.host)}${page.warnings.length > 0 ? ` (${page.warnings.join(', ')})` : ''}`);
      const answer = await screen.ask('Open it in your browser, then answer y; or [n]o: ', { lines, signal });
      return { action: answer === undefined ? 'cancel' : isYes(answer) ? 'accept' : 'decline' };
    },
  };
}

async function answerForm(
  screen: Screen,
  { message, requestedSchema }: ElicitRequestFormParams,
  { server, signal }: AskContext,
): Promise<ElicitResult> {
  const form = describeForm(requestedSchema);
  const lines = [heading(screen, server, 'asks'), cleanAll(message)];
  const consent = await screen.ask('Answer it? [y]es, [n]o: ', { lines, signal });
  if (consent === undefined) return { action: 'cancel' };
  if (!isYes(consent)) return { action: 'decline' };
  for (;;) {
    const content = await askFields(screen, form.fields, signal);
    if (content === undefined) return { action: 'cancel' };
    const issues = form.check(content);
    if (issues.length === 0) return { action: 'accept', content };
    for (const issue of issues) screen.print(screen.style('yellow', `  ${cleanLine(`${issue.field} ${issue.message}`)}`));
  }
}

/** Asks for each field. An empty answer takes the default, or leaves the field out. */
async function askFields(screen: Screen, fields: readonly FormField[], signal: AbortSignal): Promise<ElicitContent | undefined> {
  const content: Record<string, ElicitContent[string]> = {};
  for (const field of fields) {
    const options = 'options' in field ? field.options.map(({ value }) => value) : [];
    const text = await screen.ask(`  ${toQuestion(field, options)}: `, { signal, complete: () => options });
    if (text === undefined) return undefined;
    const value = text === '' ? field.default : toValue(field, text);
    if (value !== undefined) content[field.name] = value;
  }
  return content;
}

function toQuestion(field: FormField, options: readonly string[]): string {
  const choices = field.kind === 'switch' ? ' (yes, no)' : options.length > 0 ? ` (${options.join(', ')})` : '';
  const preset = field.default === undefined ? (field.isRequired ? '' : ' [leave out]') : ` [${String(field.default)}]`;
  return cleanLine(`${field.label}${choices}${preset}`, 300);
}

/** A text that does not fit the field stays text: the form's check says what is wrong with it. */
function toValue({ kind }: FormField, text: string): string | number | boolean | string[] {
  if (kind === 'number') return Number.isNaN(Number(text)) ? text : Number(text);
  if (kind === 'switch') return isYes(text) || (/^n/i.test(text) ? false : text);
  return kind === 'multi-choice' ? text.split(',').map((part) => part.trim()) : text;
}

/** Lets servers use the model. The user sees each request before the model does, and each result before the server does. */
export function offerModel(screen: Screen, model: Model): HostSampling {
  return {
    approveRequest(params, { server, signal }) {
      const lines = [heading(screen, server, `wants to ask ${cleanLine(model.name)} (at most ${params.maxTokens} tokens)`)];
      for (const { role, content } of toMessages(params)) lines.push(cleanAll(`${role}: ${content}`));
      return askYes(screen, 'Let it ask? [y]es, [n]o: ', lines, signal);
    },
    async createMessage(params, { signal }) {
      const request = { messages: toMessages(params), tools: [], maxTokens: params.maxTokens, signal, onText: () => undefined };
      const { content: text } = await model.answer(request);
      return { role: 'assistant', model: model.name, content: { type: 'text', text }, stopReason: 'endTurn' };
    },
    approveResult({ content }, _params, { server, signal }) {
      const lines = [heading(screen, server, 'would get this answer of the model'), cleanAll(samplingText(content))];
      return askYes(screen, 'Send it? [y]es, [n]o: ', lines, signal);
    },
  };
}

function toMessages({ systemPrompt, messages }: CreateMessageRequestParams): readonly TextMessage[] {
  const spoken = messages.map(({ role, content }) => ({ role, content: samplingText(content) }));
  return systemPrompt === undefined ? spoken : [{ role: 'system', content: systemPrompt }, ...spoken];
}

function samplingText(content: CreateMessageRequestParams['messages'][number]['content']): string {
  const blocks = Array.isArray(content) ? content : [content];
  return blocks
    .map((block) => (block.type === 'tool_use' || block.type === 'tool_result' ? JSON.stringify(block) : blockText(block)))
    .join('\n');
}

const isYes = (answer: string): boolean => /^\s*y/i.test(answer);

/** Shows all of what the user answers for. What nobody would read to its end is refused. */
async function askYes(screen: Screen, question: string, lines: readonly string[], signal: AbortSignal): Promise<boolean> {
  const characters = lines.join('').length;
  if (characters > MAX_READ) {
    screen.print([...lines.slice(0, 1), `    refused: it has ${characters} characters, more than anybody reads`].join('\n'));
    return false;
  }
  return isYes((await screen.ask(question, { lines, signal })) ?? 'n');
}

const heading = (screen: Screen, server: string, what: string): string =>
  `${screen.style('cyan', '?')} ${screen.style('bold', cleanLine(server))} ${what}`;
