import { installTool } from '../install-tool.mjs';
import { setUp } from '../set-up.mjs';
import { installToolNode } from '../tool-node.mjs';

/** Runs before the tests of what is built, and only where one of them runs. Other programs are installed once, before two processes want them. */
export const setup = async (): Promise<void> => {
  await setUp();
  await installToolNode('24');
  for (const tool of ['inspector', 'other-makers', 'typescript']) await installTool(tool);
};
