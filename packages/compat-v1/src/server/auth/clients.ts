/** `/server/auth/clients`: where an authorization server keeps its clients. */

import type { OAuthClientInformationFull } from '../../shared/auth.ts';

export interface OAuthRegisteredClientsStore {
  getClient(clientId: string): OAuthClientInformationFull | undefined | Promise<OAuthClientInformationFull | undefined>;
  /** Stores a new client. Without this function the server registers none. @returns The client, with its id. */
  registerClient?(
    client: Omit<OAuthClientInformationFull, 'client_id' | 'client_id_issued_at'>,
  ): OAuthClientInformationFull | Promise<OAuthClientInformationFull>;
}
