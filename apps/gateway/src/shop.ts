/** Our own server behind the gateway: a shop, which asks before it sells. It knows nothing of the gateway. */

import { McpServer } from '@mortise/server';
import { z } from 'zod';

const prices: Readonly<Record<string, number>> = { apple: 2, pear: 3 };

export function createShop(): McpServer {
  const shop = new McpServer({ name: 'shop', version: '1.0.0' });
  shop.registerResource('prices', 'shop://prices', { mimeType: 'application/json' }, () => JSON.stringify(prices));
  shop.registerTool('buy', { description: 'Buys fruit', inputSchema: { fruit: z.enum(['apple', 'pear']) } }, async ({ fruit }, ctx) => {
    const answer = await ctx.elicit({
      message: `Buy ${fruit} for ${prices[fruit] ?? 0} each?`,
      requestedSchema: { count: z.int().min(1).max(9).default(1) },
    });
    return answer.action === 'accept' ? `${answer.content.count} ${fruit} sold` : 'Nothing sold';
  });
  return shop;
}
