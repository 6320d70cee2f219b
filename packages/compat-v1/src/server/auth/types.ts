/** `/server/auth/types`: who sent a request. */

export type { AuthInfo } from '../../types/auth-info.ts';
