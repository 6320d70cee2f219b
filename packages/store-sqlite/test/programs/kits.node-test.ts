/** The kits under Node's own runner: started by compliance.test.ts on a Node that has the driver in question. */

import { describeKit } from '@mortise/transport-testkit/node-test';
import type { SqliteDriverName } from '@mortise/store-sqlite';
import { runKits } from '../kits.ts';

runKits(describeKit, process.env['KIT_DRIVER'] as SqliteDriverName);
