/** `/client/websocket`: the client transport for WebSocket. */

import { WebSocketClientTransport as OwnTransport } from '@mortise/transport-ws-custom/client';

/** The client transport for WebSocket, which no revision of the specification has. */
export class WebSocketClientTransport extends OwnTransport {
  constructor(url: URL) {
    super(url);
  }
}
