/** `/server/auth/middleware/allowedMethods` */

import type { RequestHandler } from 'express';
import { MethodNotAllowedError } from '../errors.ts';

/** Refuses requests with another method, with status 405. */
export function allowedMethods(methods: string[]): RequestHandler {
  return (request, response, next) => {
    if (methods.includes(request.method)) return next();
    const error = new MethodNotAllowedError(`The method ${request.method} is not allowed for this endpoint`);
    response.status(405).set('Allow', methods.join(', ')).json(error.toResponseObject());
  };
}
