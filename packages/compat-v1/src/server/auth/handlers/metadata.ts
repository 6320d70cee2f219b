/** `/server/auth/handlers/metadata`: serves a metadata document to clients and to pages of any origin. */

import cors from 'cors';
import express, { type RequestHandler } from 'express';
import type { OAuthMetadata, OAuthProtectedResourceMetadata } from '../../../shared/auth.ts';
import { allowedMethods } from '../middleware/allowedMethods.ts';

export function metadataHandler(metadata: OAuthMetadata | OAuthProtectedResourceMetadata): RequestHandler {
  const router = express.Router();
  router.use(cors(), allowedMethods(['GET', 'OPTIONS']));
  router.get('/', (_request, response) => void response.status(200).json(metadata));
  return router;
}
