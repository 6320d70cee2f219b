/** `@mortise/host/gateway`: several servers of any era behind one endpoint for clients of any era. */

export { createGateway, type Gateway, type GatewayHealth } from './gateway/gateway.ts';
export type { GatewayCaller, GatewayOptions, GatewayServer } from './gateway/gateway-options.ts';
