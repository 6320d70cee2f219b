/** Checks that the receiver of a request runs it as a task. */

interface TaskRequests {
  readonly tools?: { readonly call?: object | undefined } | undefined;
  readonly sampling?: { readonly createMessage?: object | undefined } | undefined;
  readonly elicitation?: { readonly create?: object | undefined } | undefined;
}

/** @throws {Error} The server does not run the method as a task. */
export function assertToolsCallTaskCapability(requests: object | undefined, method: string, entityName: 'Server' | 'Client'): void {
  assertTasks(requests, method, entityName, method !== 'tools/call' || (requests as TaskRequests | undefined)?.tools?.call !== undefined);
}

/** @throws {Error} The client does not run the method as a task. */
export function assertClientRequestTaskCapability(requests: object | undefined, method: string, entityName: 'Server' | 'Client'): void {
  const { sampling, elicitation } = (requests ?? {}) as TaskRequests;
  const lacksSampling = method === 'sampling/createMessage' && !sampling?.createMessage;
  const lacksElicitation = method === 'elicitation/create' && !elicitation?.create;
  assertTasks(requests, method, entityName, !lacksSampling && !lacksElicitation);
}

function assertTasks(requests: object | undefined, method: string, entityName: string, hasMethod: boolean): void {
  if (requests === undefined) throw new Error(`${entityName} does not support task creation (required for ${method})`);
  if (!hasMethod) throw new Error(`${entityName} does not support task creation for ${method} (required for ${method})`);
}
