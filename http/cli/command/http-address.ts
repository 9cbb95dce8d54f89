/**
 * Parses an http or https address. Returns null for any other text, and for an address with a user name or a password.
 */
export function parseHttpAddress(text: string): URL | null {
  const url = /^https?:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : null;
  return url?.username === "" && url.password === "" ? url : null;
}
