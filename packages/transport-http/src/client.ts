/** `@mortise/transport-http/client`: the client's side. */

export {};
