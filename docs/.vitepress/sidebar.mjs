/** The order of the site's pages. A page that is named here and is not there yet is left out; one that is there and not named here is an error. */

import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const docs = join(import.meta.dirname, '..');

const learn = [
  section('Learn', 'learn/', [
    'index',
    'first-server',
    'resources-and-prompts',
    'ask-the-user',
    'long-work',
    'http',
    'sign-in',
    'tests',
    'desktop-host',
  ]),
];

const howTo = [
  section('Build a server', 'how-to/', [
    'write-a-tool',
    'resources-and-prompts',
    'ask-the-user',
    'long-work',
    'return-errors',
    'middleware',
    'tenants',
    'test-a-server',
    'serve-an-openapi-document',
  ]),
  section('Serve it', 'how-to/', [
    'stdio',
    'http',
    'express',
    'fastify',
    'hono',
    'next',
    'bun',
    'deno',
    'workers',
    'lambda',
    'websocket',
    'custom-transport',
  ]),
  section('Run it', 'how-to/', ['behind-nginx', 'keep-state', 'custom-store', 'many-machines', 'observability']),
  section('Protect it', 'how-to/', ['protect-a-server', 'oauth-provider', 'sign-in']),
  section('Use servers', 'how-to/', [
    'call-a-server',
    'host',
    'give-tools-to-a-model',
    'gateway',
    'proxy-an-upstream',
    'desktop-hosts',
    'inspector',
    'examine-a-server',
  ]),
  section('Move to Mortise', 'how-to/', ['migrate-from-the-official-sdk']),
];

const understand = [
  section('Understand', 'understand/', [
    'packages',
    'two-eras',
    'how-a-request-travels',
    'how-a-task-survives',
    'sealed-state',
    'security-model',
    'bounds',
    'many-machines',
  ]),
];

const reference = [
  section('Reference', 'reference/', ['index', 'command-line', 'revisions', 'migration-exports']),
  section('Errors', 'reference/errors/', ['index', ...pagesIn('reference/errors').filter((name) => name !== 'index')]),
  section('Packages', 'reference/api/', pagesIn('reference/api')),
];

const project = [
  section('Project', '', ['robustness', 'measurements', 'round-trips']),
  section('Decisions', 'decisions/', pagesIn('decisions')),
];

export const sidebar = {
  '/learn/': learn,
  '/how-to/': howTo,
  '/understand/': understand,
  '/reference/': reference,
  '/robustness': project,
  '/measurements': project,
  '/round-trips': project,
  '/decisions/': project,
};

function section(text, folder, names) {
  const items = names
    .filter((name) => existsSync(join(docs, `${folder}${name}.md`)))
    .map((name) => ({ text: titleOf(`${folder}${name}.md`), link: `/${folder}${name === 'index' ? '' : name}` }));
  return { text, items };
}

/** A page's first heading, without the marks of code. */
function titleOf(page) {
  const title = /^# (.+)$/m.exec(readFileSync(join(docs, page), 'utf8'))?.[1];
  if (title === undefined) throw new Error(`docs/${page} has no title: its first heading is "# ..."`);
  return title.replaceAll('`', '');
}

function pagesIn(folder) {
  if (!existsSync(join(docs, folder))) return [];
  return readdirSync(join(docs, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => name.slice(0, -3))
    .sort();
}

/** Pages of the four kinds that the sidebar does not name. */
export function findUnlisted() {
  const listed = Object.values(sidebar).flatMap((sections) => sections.flatMap(({ items }) => items.map(({ link }) => link)));
  return ['learn', 'how-to', 'understand', 'reference', 'reference/errors', 'decisions']
    .flatMap((folder) => pagesIn(folder).map((name) => `/${folder}/${name === 'index' ? '' : name}`))
    .filter((link) => !listed.includes(link));
}
