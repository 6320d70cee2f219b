/** Tells whether the address of a socket is this machine talking to itself. */
export function isLoopbackAddress(address: string): boolean {
  return address.startsWith('127.') || address === '::1' || address.startsWith('::ffff:127.');
}
