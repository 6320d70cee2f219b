import { serveStdio } from '@mortise/transport-stdio/server';
import { createTarget } from './target.mjs';

await serveStdio(createTarget(), { maxMessageBytes: 1024 * 1024 });
