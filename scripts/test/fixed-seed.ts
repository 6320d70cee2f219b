/** Property tests try the same values in every run, so that none fails by chance: `MORTISE_SEED=random npm test` tries others. */

import fc from 'fast-check';

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env['MORTISE_SEED'] ?? 1) });
