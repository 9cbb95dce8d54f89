import { type AllowList, parseAllowList } from "./allow-list.js";

/** The deployment's code host, and the service's app there. Addresses do not end with a slash. */
export interface CodeHostSettings {
  readonly apiUrl: string;
  /** The address where people sign in. */
  readonly webUrl: string;
  readonly appId: string;
  /** RSA private key, PEM. */
  readonly appKey: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** The name of the code host: the host of its web address. */
export function codeHostName(webUrl: string): string {
  return new URL(webUrl).host;
}

/** The allow-list for requests to the code host: its two configured addresses only. */
export function codeHostAddresses({ apiUrl, webUrl }: CodeHostSettings): AllowList {
  return parseAllowList(`${new URL(apiUrl).origin},${new URL(webUrl).origin}`);
}
