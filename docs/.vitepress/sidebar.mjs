/** What stands in the site's sidebar, in this order. A page is listed by its title. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { apiPages } from '../../scripts/docs/typedoc.mjs';
import { root } from '../../scripts/run-command.mjs';

const docs = join(root, 'docs');

/** By folder: the groups of its pages, or the pages themselves. A pair gives a page a name that is shorter than its title. */
const layout = {
  learn: [
    ['Learn', ['index', 'first-server', 'resources-and-prompts', 'ask-the-user', 'long-work', 'http', 'sign-in', 'tests', 'desktop-host']],
  ],
  'how-to': [
    [
      'Build a server',
      [
        'write-a-tool',
        'resources-and-prompts',
        'ask-the-user',
        'long-work',
        'return-errors',
        'middleware',
        'tenants',
        'test-a-server',
        'serve-an-openapi-document',
      ],
    ],
    [
      'Serve it',
      ['stdio', 'http', 'express', 'fastify', 'hono', 'next', 'bun', 'deno', 'workers', 'lambda', 'websocket', 'custom-transport'],
    ],
    ['Run it', ['behind-nginx', 'keep-state', 'custom-store', 'many-machines', 'observability']],
    ['Protect it', ['protect-a-server', 'oauth-provider', 'sign-in']],
    ['Use servers', ['call-a-server', 'host', 'give-tools-to-a-model', 'gateway', 'proxy-an-upstream']],
    ['Look into servers', ['desktop-hosts', 'inspector', 'examine-a-server']],
    ['Move to Mortise', ['migrate-from-the-official-sdk']],
  ],
  understand: [
    [
      'Understand',
      ['packages', 'two-eras', 'how-a-request-travels', 'how-a-task-survives', 'sealed-state', 'security-model', 'bounds', 'many-machines'],
    ],
  ],
};

/** The sidebars of VitePress, by the path below which each shows. */
export function sidebar() {
  const project = projectGroups();
  return {
    ...Object.fromEntries(
      Object.entries(layout).map(([folder, groups]) => [
        `/${folder}/`,
        groups.map(([text, names]) => ({ text, items: listPages(folder, names) })),
      ]),
    ),
    '/reference/': referenceGroups(),
    ...Object.fromEntries(['/decisions/', '/apps', '/why', '/measurements', '/robustness', '/round-trips'].map((path) => [path, project])),
  };
}

/** The parts of the site, for its navigation: a part leads to its first page. */
export function parts() {
  const bars = sidebar();
  const first = (path) => bars[path][0].items[0].link;
  return [
    { text: 'Learn', link: first('/learn/'), activeMatch: '^/learn/' },
    { text: 'How to', link: first('/how-to/'), activeMatch: '^/how-to/' },
    { text: 'Understand', link: first('/understand/'), activeMatch: '^/understand/' },
    { text: 'Reference', link: first('/reference/'), activeMatch: '^/reference/' },
    { text: 'Why', link: '/why' },
    { text: 'Project', link: first('/decisions/'), activeMatch: '^/(decisions/|measurements|robustness|round-trips|apps)' },
  ];
}

/** Every page of the sidebars with its title, by group. */
export function listedPages() {
  const groups = Object.values(sidebar()).flat();
  const flatten = (items) => items.flatMap((item) => [item, ...flatten(item.items ?? [])]);
  return new Map(groups.map(({ text, items }) => [text, flatten(items)]));
}

/** What is wrong with a page that the sidebar does not list: nobody finds it. `paths`: such as `how-to/host`. */
export function findUnlisted(paths) {
  const listed = new Set([...listedPages().values()].flat().map(({ link }) => link.slice(1)));
  return paths
    .filter((path) => path !== '' && !listed.has(path))
    .map((path) => `docs/.vitepress/sidebar.mjs does not list docs/${path}.md`);
}

function referenceGroups() {
  const api = apiPages();
  const folders = [...new Set(api.map(({ folder }) => folder))];
  const packages = folders.map((folder) => {
    const [main, ...others] = api
      .filter((page) => page.folder === folder)
      .map(({ name, path }) => ({ text: name, link: `/reference/api/${path}` }));
    return {
      ...main,
      text: folder,
      ...(others.length === 0 ? {} : { collapsed: true, items: others.map(({ text, link }) => ({ text: shorten(text), link })) }),
    };
  });
  return [
    { text: 'Reference', items: listPages('reference', ['index', 'command-line', 'errors/index', 'revisions', 'migration-exports']) },
    { text: 'Packages', items: packages },
    { text: 'Errors', link: '/reference/errors/', collapsed: true, items: listPages('reference/errors', pagesIn('reference/errors')) },
  ];
}

function projectGroups() {
  return [
    { text: 'Project', items: listPages('', ['apps', 'why', 'measurements', 'robustness', 'round-trips']) },
    { text: 'Decisions', link: '/decisions/asks-in-rounds', collapsed: true, items: listPages('decisions', pagesIn('decisions')) },
  ];
}

/** `@mortise/server/zod` is `/zod` below its package. */
function shorten(name) {
  return name.replace(/^@mortise\/[^/]+/, '');
}

function pagesIn(folder) {
  const names = readdirSync(join(docs, folder)).filter((name) => name.endsWith('.md') && name !== 'index.md');
  return names.map((name) => name.slice(0, -3)).sort((a, b) => a.localeCompare(b, 'en'));
}

function listPages(folder, names) {
  const paths = names.map((name) => (folder === '' ? name : `${folder}/${name}`));
  return paths.map((path) => ({ text: titleOf(path), link: `/${path.replace(/(^|\/)index$/, '$1')}` }));
}

/** The first heading without its marks. */
function titleOf(path) {
  const heading = /^# (.+)$/m.exec(readFileSync(join(docs, `${path}.md`), 'utf8'))?.[1];
  return heading === undefined ? path : heading.replaceAll(/`|\s*\{#.*\}$/g, '');
}
