/** Answers a server's questions by asking the person at the terminal. */

import { describeForm, describePage, type FormField } from '@mortise/client/host';
import type { AnswerHandler, PageContext } from '@mortise/client';
import type { ElicitRequestFormParams, ElicitRequestURLParams, ElicitResult } from '@mortise/protocol/model';
import { openBrowser } from '@mortise/auth-oauth/node';
import { clean, type Terminal } from './terminal.ts';

const DECLINED: ElicitResult = { action: 'decline' };
const CANCELLED: ElicitResult = { action: 'cancel' };

/** Asks for each field of a form. An empty answer takes the default or leaves the field out; the end of input cancels. */
export function answerForm(terminal: Terminal): AnswerHandler<ElicitRequestFormParams, ElicitResult> {
  return async ({ message, requestedSchema }, { serverInfo }) => {
    const form = describeForm(requestedSchema);
    terminal.note(`${terminal.styleNote('bold', clean(serverInfo?.name ?? 'The server'))} asks: ${clean(message)}`);
    const consent = await terminal.ask('Answer? [Y/n] ');
    if (consent === undefined) return CANCELLED;
    if (/^n/i.test(consent)) return DECLINED;
    for (;;) {
      const content = await askFields(form.fields, terminal);
      if (content === undefined) return CANCELLED;
      const issues = form.check(content);
      if (issues.length === 0) return { action: 'accept', content };
      for (const issue of issues) terminal.note(terminal.styleNote('yellow', clean(`${issue.field}: ${issue.message}`)));
    }
  };
}

type Content = Record<string, string | number | boolean | string[]>;

async function askFields(fields: readonly FormField[], terminal: Terminal): Promise<Content | undefined> {
  const content: Content = {};
  for (const field of fields) {
    const text = await terminal.ask(`${clean(toQuestion(field))}: `);
    if (text === undefined) return undefined;
    const value = text === '' ? field.default : toValue(field, text);
    if (value !== undefined) content[field.name] = typeof value === 'object' ? [...value] : value;
  }
  return content;
}

function toQuestion(field: FormField): string {
  const hint = field.default === undefined ? (field.isRequired ? '' : ' (optional)') : ` [${String(field.default)}]`;
  const about = field.description === undefined ? '' : `, ${field.description}`;
  return `${field.label}${about}${toChoices(field)}${hint}`;
}

function toChoices(field: FormField): string {
  if (field.kind === 'switch') return ' (yes or no)';
  if (field.kind === 'choice') return ` (one of ${field.options.map((option) => option.value).join(', ')})`;
  if (field.kind === 'multi-choice') return ` (some of ${field.options.map((option) => option.value).join(', ')}, by commas)`;
  return '';
}

/** Text that does not fit the field stays text: the form's check says what is wrong with it. */
function toValue(field: FormField, text: string): string | number | boolean | readonly string[] {
  if (field.kind === 'number') return Number.isNaN(Number(text)) ? text : Number(text);
  if (field.kind === 'switch') return /^(?:y|yes|true|1)$/i.test(text) || (/^(?:n|no|false|0)$/i.test(text) ? false : text);
  return field.kind === 'multi-choice' ? text.split(',').map((part) => part.trim()) : text;
}

/** Shows the address of a page and opens it in the browser, if the user agrees. */
export function answerPage(terminal: Terminal): AnswerHandler<ElicitRequestURLParams, ElicitResult, PageContext> {
  return async ({ message, url }, { serverInfo }) => {
    const page = describePage(url);
    terminal.note(`${terminal.styleNote('bold', clean(serverInfo?.name ?? 'The server'))} wants to open a page: ${clean(message)}`);
    terminal.note(`  ${clean(page.url)}\n  at ${clean(page.host)}${page.warnings.length === 0 ? '' : ` (${page.warnings.join(', ')})`}`);
    const consent = await terminal.ask('Open it in the browser? [y/N] ');
    if (consent === undefined) return CANCELLED;
    if (!/^y/i.test(consent)) return DECLINED;
    await openBrowser(page.url);
    return { action: 'accept' };
  };
}
