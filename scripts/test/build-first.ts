import { setUp } from '../set-up.mjs';
import { installToolNode } from '../tool-node.mjs';

/** Runs before the tests of what is built, and only where one of them runs. Two of them need Node 24, which two processes must not install at once. */
export const setup = async (): Promise<void> => {
  await setUp();
  await installToolNode('24');
};
