/** The client in a page, over what pages have: HTTP, WebSocket, and a port to a frame. */

import { McpClient } from '@mortise/client';
import { messagePortTransport } from '@mortise/jsonrpc-core/message-port';
import { httpTransport } from '@mortise/transport-http/client';
import { webSocketTransport } from '@mortise/transport-ws-custom/client';
import { createServer, useServer } from './round-trip.mjs';

const info = { name: 'page', version: '1.0.0' };

/** How a page reaches a server, by name. @type {Record<string, (url: string) => import('@mortise/client').ClientTransportSource>} */
const transports = { HTTP: (url) => httpTransport(url), WebSocket: (url) => webSocketTransport(url) };

/** @returns {Promise<Record<string, unknown>>} What came back, by what was asked. */
export async function overNetwork(how, url, era) {
  return useServer(await McpClient.connect(transports[how](url), info, { era }));
}

/** Puts the server into a frame of the page, which is given one end of a channel, and the client into the page itself. */
export async function overPort(era) {
  const frame = document.createElement('iframe');
  document.body.append(frame);
  frame.contentWindow.addEventListener('message', ({ ports: [port] }) => void createServer().connect(messagePortTransport(port)), {
    once: true,
  });
  const { port1, port2 } = new MessageChannel();
  frame.contentWindow.postMessage('here is your port', location.origin, [port2]);
  return useServer(await McpClient.connect(messagePortTransport(port1), info, { era }));
}
