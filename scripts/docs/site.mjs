/** `npm run docs` serves the site of docs/ and shows each change; `npm run docs:build` builds it into docs/.vitepress/dist. */

import { join } from 'node:path';
import { installTool } from '../install-tool.mjs';
import { root, runNode } from '../run-command.mjs';

const [command = 'build', ...flags] = process.argv.slice(2);
const modules = await installTool('../docs');
const { code } = await runNode([join(modules, 'vitepress/bin/vitepress.js'), command, 'docs', ...flags], { cwd: root, show: true });
process.exitCode = code;
