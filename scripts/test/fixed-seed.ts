/** Property tests try the same values in every run, so that none fails by chance: `MORTISE_SEED=7 npm test` tries others. */

import { vi } from 'vitest';

vi.mock('fast-check', async (load) => {
  const module = await load<typeof import('fast-check')>();
  module.configureGlobal({ ...module.readConfigureGlobal(), seed: Number(process.env['MORTISE_SEED'] ?? 1) });
  return module;
});
