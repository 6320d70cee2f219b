/** `@mortise/client/era-memory`: where a client keeps which era each server speaks. */

export { createEraMemory, type EraKeyed, type EraMemory, type EraVerdict } from './era/era-memory.ts';
