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

type ClientOptions = NonNullable<Parameters<typeof McpClient.connect>[2]>;
type TransportOptions = NonNullable<Parameters<typeof httpTransport>[1]>;

/** How a scenario's client is made. */
export interface ScenarioOptions extends ClientOptions {
  /** For the transport, from what the suite tells: an `authorizer`, say. */
  readonly transport?: (input: ScenarioInput) => TransportOptions;
}

/** Connects, does what the scenario wants, and closes whatever happened. */
export function withClient(use: (client: McpClient, input: ScenarioInput) => Promise<void>, options: ScenarioOptions = {}): Scenario {
  const { transport: toTransportOptions, ...clientOptions } = options;
  return async (input) => {
    const transport = httpTransport(input.url, toTransportOptions?.(input));
    const client = await McpClient.connect(transport, { name: 'mortise-conformance', version: '1.0.0' }, clientOptions);
    try {
      await use(client, input);
    } finally {
      await client.close();
    }
  };
}
