/** The authorization extensions, as a client declares them: `McpClient.connect(transport, info, { extensions: [...] })`. */

import type { ClientExtension } from '@mortise/protocol/contracts';

/** Says that the client can act for itself. */
export const clientCredentialsExtension: ClientExtension = { id: 'io.modelcontextprotocol/oauth-client-credentials' };

/** Says that the client can sign in through an enterprise's identity provider. */
export const enterpriseManagedExtension: ClientExtension = { id: 'io.modelcontextprotocol/enterprise-managed-authorization' };
