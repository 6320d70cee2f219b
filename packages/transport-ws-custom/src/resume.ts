/** `@mortise/transport-ws-custom/resume`: channels that outlive their sockets, by the subprotocol `mortise.resume.v1`. */

export { resumeOnClient } from './resume/client.ts';
export { resumeOnServer, type ServerResumeOptions } from './resume/channels.ts';
