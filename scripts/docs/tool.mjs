/** The programs that build the site, which docs/package.json pins. */

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from '../run-command.mjs';

const modules = join(root, 'docs/node_modules');

/** Imports a file of a package that `installTool('../docs')` has installed. */
export async function importTool(file) {
  return await import(pathToFileURL(join(modules, file)).href);
}

export const importVitePress = () => importTool('vitepress/dist/node/index.js');
export const importTypeDoc = () => importTool('typedoc/dist/index.js');
export const importTypeDocMarkdown = () => importTool('typedoc-plugin-markdown/dist/index.js');
