/** `@mortise/transport-ws-custom/resume`: connections that continue after a network break, by the subprotocol `mortise.resume.v1`. */

export { resumeOnClient } from './resume/client.ts';
export { resumeOnServer, type ServerResumeOptions } from './resume/channels.ts';
