// The floor server for measured clients, in a process of its own.
import { fileURLToPath } from 'node:url';
import { startHttpServer } from './http-peer.mjs';

export const startFloor = () => startHttpServer(fileURLToPath(new URL('../floor/http-server.mjs', import.meta.url)));
