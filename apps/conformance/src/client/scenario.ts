/** What a scenario is: one exchange with the suite's server, in whichever era that server speaks. */

import { McpClient } from '@mortise/client';
import { httpTransport } from '@mortise/transport-http/client';

/** What the suite tells of a scenario. */
export interface ScenarioInput {
  readonly url: string;
  /** Differs by scenario: whatever JSON the suite gives. */
  readonly context: unknown;
}

/** Resolves when everything went as it should. */
export type Scenario = (input: ScenarioInput) => Promise<void>;

type Options = NonNullable<Parameters<typeof McpClient.connect>[2]>;

/** Connects, does what the scenario wants, and closes whatever happened. */
export function withClient(use: (client: McpClient, input: ScenarioInput) => Promise<void>, options: Options = {}): Scenario {
  return async (input) => {
    const client = await McpClient.connect(httpTransport(input.url), { name: 'mortise-conformance', version: '1.0.0' }, options);
    try {
      await use(client, input);
    } finally {
      await client.close();
    }
  };
}
