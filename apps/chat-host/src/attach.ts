/** Resources that the user attaches to a message: `@words` searches them, and the user chooses one. */

import type { Host } from '@mortise/host';
import { UriTemplate } from '@mortise/protocol';
import { cleanLine } from './clean.ts';
import { resourceText } from './results.ts';
import type { Screen } from './screen.ts';

/** A resource, or a template whose variables are asked for. */
interface Found {
  readonly server: string;
  readonly uri: string;
  readonly label: string;
  readonly isTemplate: boolean;
}

const MAX_SHOWN = 15;
const SEARCH = /(?<=^|\s)@(\S*)/g;

/** Replaces each `@words` by the URI of the chosen resource, and appends its text. @returns undefined if the user took the message back. */
export async function attachResources(text: string, host: Host, screen: Screen, signal: AbortSignal): Promise<string | undefined> {
  let message = text;
  for (const [token, words = ''] of text.matchAll(SEARCH)) {
    const found = await choose(await search(words, host, signal), words, screen, signal);
    if (!found) return undefined;
    const uri = found.isTemplate ? await fillIn(found, host, screen, signal) : found.uri;
    if (uri === undefined) return undefined;
    const content = resourceText(await host.readResource({ server: found.server, uri }, { signal }));
    screen.print(screen.style('dim', `  attached ${cleanLine(uri)} of ${cleanLine(found.server)} (${content.length} characters)`));
    message = `${message.replace(token, () => uri)}\n\n${toAttachment(found.server, uri, content)}`;
  }
  return message;
}

/** Marks the text of a resource for the model. The text cannot end the mark, and so pass for words of the user. */
export function toAttachment(server: string, uri: string, content: string): string {
  const text = content.replaceAll(/<(?=\/resource)/giu, '&lt;');
  return `<resource server=${JSON.stringify(server)} uri=${JSON.stringify(uri)}>\n${text}\n</resource>`;
}

/** Finds the resources and templates that have all the words, which are separated by `+`, in their name, title or URI. */
async function search(words: string, host: Host, signal: AbortSignal): Promise<readonly Found[]> {
  const [resources, templates] = await Promise.all([host.resources({ signal }), host.resourceTemplates({ signal })]);
  const all = [
    ...resources.map(({ server, resource }) => ({ ...resource, server, isTemplate: false })),
    ...templates.map(({ server, resourceTemplate }) => ({
      ...resourceTemplate,
      uri: resourceTemplate.uriTemplate,
      server,
      isTemplate: true,
    })),
  ].map(({ server, uri, name, title, isTemplate }) => ({ server, uri, label: title ?? name, isTemplate }));
  const wanted = words.toLowerCase().split('+').filter(Boolean);
  return all.filter((each) => wanted.every((word) => `${each.server} ${each.label} ${each.uri}`.toLowerCase().includes(word)));
}

async function choose(found: readonly Found[], words: string, screen: Screen, signal: AbortSignal): Promise<Found | undefined> {
  if (found.length === 0) screen.print(screen.style('yellow', `No resource has "${cleanLine(words)}". The message was not sent`));
  if (found.length <= 1) return found[0];
  const lines = found
    .slice(0, MAX_SHOWN)
    .map(
      ({ server, uri, label }, index) =>
        `  ${String(index + 1).padStart(2)} ${cleanLine(label, 40)}  ${cleanLine(uri, 80)}  (${cleanLine(server, 24)})`,
    );
  if (found.length > MAX_SHOWN)
    lines.push(`     and ${found.length - MAX_SHOWN} more: search with more words, such as @${cleanLine(words)}+read`);
  const answer = await screen.ask('Attach which number? (Enter for none) ', { lines, signal });
  return found.slice(0, MAX_SHOWN)[Number(answer?.trim() || 0) - 1];
}

/** Asks for the variables of a template; the Tab key completes what the server can complete. */
async function fillIn({ server, uri }: Found, host: Host, screen: Screen, signal: AbortSignal): Promise<string | undefined> {
  const template = UriTemplate.parse(uri);
  const values: Record<string, string> = {};
  for (const name of template.variableNames) {
    const complete = async (value: string): Promise<readonly string[]> =>
      (await host.complete(server, { ref: { type: 'ref/resource', uri }, argument: { name, value } }, { signal })).completion.values;
    const value = await screen.ask(`  ${cleanLine(name)}: `, { signal, complete });
    if (value === undefined) return undefined;
    values[name] = value;
  }
  return template.expand(values);
}
