/** Every scenario that the client plays, under the name that the suite gives it: a file a family, put together here. */

import { authScenarios } from './auth-scenarios.ts';
import { coreScenarios } from './core-scenarios.ts';
import type { Scenario } from './scenario.ts';

export const scenarios: Readonly<Record<string, Scenario>> = { ...coreScenarios, ...authScenarios };
