/** The two releases of the suite that are pinned in tools/conformance, and how to start them. */

import { join } from 'node:path';
import { root, runCommand } from '../run-command.mjs';

const modules = join(root, 'tools/conformance/node_modules');

export const suites = {
  0.2: join(modules, '@modelcontextprotocol/conformance/dist/index.js'),
  '0.1.16': join(modules, 'conformance-stable/dist/index.js'),
};

/** The sets of scenarios that a revision requires, which the pre-release knows. */
export const requirementSets = ['2025-11-25', '2026-07-28'];

/**
 * @param {string} node The Node to run it on.
 * @param {keyof typeof suites} suite
 * @param {readonly string[]} args
 */
export const runSuite = (node, suite, args) =>
  runCommand(node, [suites[suite], ...args], { env: { NODE_NO_WARNINGS: '1', NO_COLOR: '1' } });
