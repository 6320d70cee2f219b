/** Writes the generated reference into docs/reference/api: a page for each entry of each package, from the doc comments of its sources. */

import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../run-command.mjs';
import { packageEntries } from '../workspace-packages.mjs';
import { importTypeDoc, importTypeDocMarkdown } from './tool.mjs';

const target = join(root, 'docs/reference/api');
const stampFile = join(root, '.cache/docs-api.txt');

/** Does nothing where no source has changed since the last time. */
export async function writeApiPages() {
  const stamp = sourcesStamp();
  if (existsSync(target) && existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return;
  const started = performance.now();
  rmSync(target, { recursive: true, force: true });
  await runTypeDoc();
  rmSync(join(target, 'README.md'), { force: true });
  writeFileSync(stampFile, stamp);
  console.log(`reference written in ${((performance.now() - started) / 1000).toFixed(1)} s`);
}

/** The pages. `path` is below docs/reference/api. compat-v1 has none: its reference is that of the official SDK, whose names it offers. */
export function apiPages() {
  return packageEntries()
    .filter(({ folder }) => folder !== 'compat-v1')
    .map(({ subpath, ...entry }) => ({ ...entry, path: `${entry.folder}/${subpath.slice(2).replaceAll('/', '-')}`.replace(/\/$/, '') }));
}

async function runTypeDoc() {
  const pages = apiPages();
  const { Application, OptionDefaults } = await importTypeDoc();
  const markdown = await importTypeDocMarkdown();
  const app = await Application.bootstrapWithPlugins({
    ...options,
    // Names the last revision of the protocol that has it.
    blockTags: [...OptionDefaults.blockTags, '@until'],
    entryPoints: pages.map(({ source }) => join(root, source)),
    plugin: [markdown.load, ({ renderer }) => renderer.defineRouter('entries', entryRouter(markdown.ModuleRouter, pages))],
  });
  const project = await app.convert();
  if (project === undefined) throw new Error('TypeDoc could not read the sources: see above');
  nameModules(project, pages);
  await app.generateOutputs(project);
  if (app.logger.hasErrors() || app.logger.hasWarnings()) throw new Error('TypeDoc warns: see above, and mend the doc comments');
}

/** TypeDoc calls a module by its file; readers know it as what programs import. */
function nameModules(project, pages) {
  const names = new Map(pages.map(({ source, name }) => [source.replace(/^packages\//, '').replace(/(?:\/index)?\.ts$/, ''), name]));
  for (const module of project.children ?? []) {
    const name = names.get(module.name);
    if (name === undefined) throw new Error(`TypeDoc read ${module.name}, which is the entry of no package`);
    module.name = name;
  }
}

/** Gives each entry the address that links use. */
function entryRouter(ModuleRouter, pages) {
  const paths = new Map(pages.map(({ name, path }) => [name, path]));
  return class extends ModuleRouter {
    getIdealBaseName(reflection) {
      return paths.get(reflection.name) ?? super.getIdealBaseName(reflection);
    }
  };
}

const options = {
  tsconfig: join(root, 'scripts/docs/tsconfig.json'),
  outputs: [{ name: 'markdown', path: target }],
  router: 'entries',
  readme: 'none',
  name: 'API',
  disableSources: true,
  disableGit: true,
  excludePrivate: true,
  excludeInternal: true,
  excludeExternals: true,
  githubPages: false,
  skipErrorChecking: true,
  logLevel: 'Warn',
  sort: ['kind', 'alphabetical'],
  hidePageHeader: true,
  hideBreadcrumbs: true,
  hideGroupHeadings: false,
  // VitePress numbers repeated headings otherwise than TypeDoc.
  useHTMLAnchors: true,
  anchorPrefix: 'api-',
  useCodeBlocks: true,
  expandObjects: true,
  sanitizeComments: true,
  pageTitleTemplates: { module: '{name}' },
  parametersFormat: 'table',
  interfacePropertiesFormat: 'table',
  classPropertiesFormat: 'table',
  typeAliasPropertiesFormat: 'table',
  typeDeclarationFormat: 'table',
  propertyMembersFormat: 'table',
  enumMembersFormat: 'table',
  indexFormat: 'table',
  tableColumnSettings: { hideSources: true, hideInherited: true, hideOverrides: true, hideModifiers: true },
};

/** Changes when anything changes that the pages are made of. */
function sourcesStamp() {
  const sources = readdirSync(join(root, 'packages')).flatMap((name) => listFiles(`packages/${name}/src`));
  const files = [...sources, ...listFiles('scripts/docs'), 'docs/package-lock.json'];
  return files.map((file) => `${file} ${statSync(join(root, file)).mtimeMs}`).join('\n');
}

function listFiles(folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`);
}
