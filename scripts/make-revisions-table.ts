/** The page `docs/reference/revisions.md`: what each revision of the protocol has, from the `Revision` values themselves. */

import { type Revision, REVISIONS } from '@mortise/protocol';
import type { MethodFacts } from '@mortise/protocol/revisions';

const oldestFirst = REVISIONS.toReversed();

/** The page. */
export async function renderRevisions(): Promise<string> {
  const logs = await Promise.all(oldestFirst.map(renderChanges));
  const errorNames = all((revision) => revision.errorCodes.keys());
  return `${[
    '# The revisions',
    'Written by `npm run docs:write` from the values in `packages/protocol/src/revisions`. Do not edit by hand.',
    '## Rules',
    table('rule', Object.keys(oldestFirst.at(-1)?.rules ?? {}), (revision, rule) => show(revision.rules[rule as keyof Revision['rules']])),
    '## HTTP',
    table('rule', Object.keys(oldestFirst.at(-1)?.http ?? {}), (revision, rule) => show(revision.http[rule as keyof Revision['http']])),
    '## Requests',
    'c: sent by clients. s: sent by servers. both: by either. embedded: asked inside a result.',
    methods((revision) => revision.requests),
    '## Notifications',
    methods((revision) => revision.notifications),
    '## Capabilities of clients',
    names((revision) => revision.clientCapabilities),
    '## Capabilities of servers',
    names((revision) => revision.serverCapabilities),
    '## Error codes of MCP itself',
    table('name', errorNames, (revision, name) => show(revision.errorCodes.get(name))),
    '## Change logs',
    ...logs,
  ].join('\n\n')}\n`;
}

/** The log stands beside the revision that it belongs to, in its folder. */
async function renderChanges({ version }: Revision): Promise<string> {
  const { changes } = (await import(`../packages/protocol/src/revisions/${version}/index.ts`)) as {
    readonly changes: readonly { readonly what: string; readonly see: string }[];
  };
  return [`### ${version}`, '', ...changes.map(({ what, see }) => `- ${what} (\`${see}\`)`)].join('\n');
}

function table(head: string, rows: readonly string[], cell: (revision: Revision, row: string) => string): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [
    line([head, ...oldestFirst.map(({ version }) => version)]),
    line([head, ...oldestFirst].map(() => '---')),
    ...rows.map((row) => line([`\`${row}\``, ...oldestFirst.map((revision) => cell(revision, row))])),
  ].join('\n');
}

function methods(of: (revision: Revision) => ReadonlyMap<string, MethodFacts>): string {
  const letters = { 'client-to-server': 'c', 'server-to-client': 's', both: 'both', embedded: 'embedded', none: '' } as const;
  const keysOf = (revision: Revision): Iterable<string> => of(revision).keys();
  return table('method', all(keysOf), (revision, method) => letters[of(revision).get(method)?.direction ?? 'none']);
}

function names(of: (revision: Revision) => ReadonlySet<string>): string {
  return table('key', all(of), (revision, name) => (of(revision).has(name) ? 'yes' : ''));
}

function all(of: (revision: Revision) => Iterable<string>): readonly string[] {
  return [...new Set(oldestFirst.flatMap((revision) => [...of(revision)]))];
}

function show(value: unknown): string {
  if (value === undefined) return '';
  if (value === true) return 'yes';
  if (value === false) return 'no';
  if (value instanceof Set) return [...(value as ReadonlySet<string>)].join(', ');
  if (value instanceof Map) return [...(value as ReadonlyMap<number, number>)].map(([code, status]) => `${code}: ${status}`).join(', ');
  return String(value);
}
