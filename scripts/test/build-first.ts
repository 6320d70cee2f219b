import { setUp } from '../set-up.mjs';

/** Runs before the tests of what is built, and only where one of them runs. */
export const setup = (): Promise<void> => setUp();
