/** Parses an http or https address; null if it is none, or has a user name or a password. */
export function parseHttpAddress(text: string): URL | null {
  const url = /^https?:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : null;
  return url?.username === "" && url.password === "" ? url : null;
}
