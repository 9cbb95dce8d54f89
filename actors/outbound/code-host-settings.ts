import { type AllowList, parseAllowList } from "./allow-list.js";

/** The code host that the deployment names, and the app that the service is there. Addresses end without a slash. */
export interface CodeHostSettings {
  readonly apiUrl: string;
  /** Where people sign in. */
  readonly webUrl: string;
  readonly appId: string;
  /** RSA private key, PEM. */
  readonly appKey: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** What the code host is called: the host of its pages. */
export function codeHostName(webUrl: string): string {
  return new URL(webUrl).host;
}

/** The list that requests to the code host go by: its two addresses, which the deployment names, and nothing else. */
export function codeHostAddresses({ apiUrl, webUrl }: CodeHostSettings): AllowList {
  return parseAllowList(`${new URL(apiUrl).origin},${new URL(webUrl).origin}`);
}
