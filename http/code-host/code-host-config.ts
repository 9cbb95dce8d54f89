import { z } from "zod";
import { createAppSigner } from "../../actors/outbound/code-host/code-host-app.js";
import type { CodeHostSettings } from "../../actors/outbound/code-host/code-host-settings.js";

/** A base URL. Trailing slashes are removed. */
const baseAddress = z
  .string()
  .refine(isBaseAddress, "must be an http or https address without a query")
  .transform((text) => text.replace(/\/+$/, ""));

const printable = (maxLength: number) =>
  z
    .string()
    .regex(/^[!-~]+$/, "must not contain spaces")
    .max(maxLength, `must be at most ${maxLength} characters`);

/** The settings of the code host. Each schema checks one setting on its own. */
export const codeHostSettings = {
  CODE_HOST_URL: baseAddress.optional().describe("API of the code host; needs the app and client settings below"),
  CODE_HOST_WEB_URL: baseAddress
    .optional()
    .meta({ description: "web address of the code host, where people sign in", written: "CODE_HOST_URL without api." }),
  CODE_HOST_APP_ID: printable(100).optional().describe("id of the service's app at the code host"),
  CODE_HOST_APP_KEY: z
    .string()
    .refine(isAppKey, "must be an RSA private key of 2048 bits or more, PEM")
    .optional()
    .describe("RSA private key of the app, PEM"),
  CODE_HOST_CLIENT_ID: printable(100).optional().describe("client id of the app, for sign-in at the code host"),
  CODE_HOST_CLIENT_SECRET: printable(200).optional().describe("client secret of the app"),
  CODE_HOST_WEBHOOK_SECRET: printable(200)
    .min(16, "must be at least 16 characters")
    .optional()
    .describe("secret that signs the code host's deliveries; without it, all are rejected"),
} as const;

const needed = ["CODE_HOST_APP_ID", "CODE_HOST_APP_KEY", "CODE_HOST_CLIENT_ID", "CODE_HOST_CLIENT_SECRET"] as const;

type SettingName = keyof typeof codeHostSettings;

/** An invalid combination of settings. `wrong` is a one-line message that names the setting. */
interface WrongCodeHost {
  readonly wrong: string;
}

/**
 * Reads the code host's settings. Returns null if none is set. If a required setting is missing, returns the message in
 * `wrong`. Two settings are optional: the webhook secret and the address of the web pages, which is derived from
 * `CODE_HOST_URL` by default.
 */
export function findCodeHost(read: (name: SettingName) => string | undefined): CodeHostSettings | null | WrongCodeHost {
  const apiUrl = read("CODE_HOST_URL");
  const [appId, appKey, clientId, clientSecret] = needed.map((name) => read(name));
  const webUrl = read("CODE_HOST_WEB_URL");
  if (apiUrl === undefined) {
    const others = [appId, appKey, clientId, clientSecret, webUrl, read("CODE_HOST_WEBHOOK_SECRET")];
    if (others.every((value) => value === undefined)) return null;
    return { wrong: "CODE_HOST_URL: must be set when other code host settings are set" };
  }
  if (appId === undefined || appKey === undefined || clientId === undefined || clientSecret === undefined) {
    return { wrong: `${needed.find((name) => read(name) === undefined)}: must be set when CODE_HOST_URL is set` };
  }
  return { apiUrl, webUrl: webUrl ?? toWebUrl(apiUrl), appId, appKey, clientId, clientSecret };
}

/**
 * Derives the address of a code host's web pages from its API address: without `api.` before the host name and without
 * the path, such as `/api/v3`.
 */
function toWebUrl(apiUrl: string): string {
  const url = new URL(apiUrl);
  url.hostname = url.hostname.replace(/^api\./, "");
  return url.origin;
}

function isBaseAddress(text: string): boolean {
  if (!URL.canParse(text) || /[?#]/.test(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username + password === "";
}

function isAppKey(text: string): boolean {
  try {
    createAppSigner("", text);
    return true;
  } catch {
    return false;
  }
}
