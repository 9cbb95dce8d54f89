import { type AllowList, parseAllowList } from "../http/allow-list.js";

/** The deployment's code host and the service's app on it. Addresses have no trailing slash. */
export interface CodeHostSettings {
  readonly apiUrl: string;
  /** The address where people sign in. */
  readonly webUrl: string;
  readonly appId: string;
  /** RSA private key in PEM format. */
  readonly appKey: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** Returns the name of the code host: the host of its web address. */
export function codeHostName(webUrl: string): string {
  return new URL(webUrl).host;
}

/** Returns the allow-list for requests to the code host: only its two configured addresses. */
export function codeHostAddresses({ apiUrl, webUrl }: CodeHostSettings): AllowList {
  return parseAllowList(`${new URL(apiUrl).origin},${new URL(webUrl).origin}`);
}
