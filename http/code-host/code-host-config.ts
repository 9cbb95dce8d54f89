import { z } from "zod";
import { createAppSigner } from "../../actors/outbound/code-host-app.js";
import type { CodeHostSettings } from "../../actors/outbound/code-host-settings.js";

/** An address under which others are built; a slash at its end is taken off. */
const baseAddress = z
  .string()
  .refine(isBaseAddress, "must be an http or https address without a query")
  .transform((text) => text.replace(/\/+$/, ""));

const printable = (most: number) =>
  z
    .string()
    .regex(/^[!-~]+$/, "must be characters without spaces")
    .max(most, `must be at most ${most} characters`);

/** The settings of the code host, each for itself. */
export const codeHostSettings = {
  CODE_HOST_URL: baseAddress.optional(),
  CODE_HOST_WEB_URL: baseAddress.optional(),
  CODE_HOST_APP_ID: printable(100).optional(),
  CODE_HOST_APP_KEY: z.string().refine(isAppKey, "must be an RSA private key of 2048 bits or more, PEM").optional(),
  CODE_HOST_CLIENT_ID: printable(100).optional(),
  CODE_HOST_CLIENT_SECRET: printable(200).optional(),
  CODE_HOST_WEBHOOK_SECRET: printable(200).min(16, "must be at least 16 characters").optional(),
} as const;

const needed = ["CODE_HOST_APP_ID", "CODE_HOST_APP_KEY", "CODE_HOST_CLIENT_ID", "CODE_HOST_CLIENT_SECRET"] as const;

type SettingName = keyof typeof codeHostSettings;

/** Settings that do not go together; `wrong` names the setting and is one line. */
interface WrongCodeHost {
  readonly wrong: string;
}

/**
 * The code host, null for none. Its settings go together, but for the address of its pages, which the one of its API
 * mostly tells, and the secret of its deliveries.
 */
export function codeHostOf(read: (name: SettingName) => string | undefined): CodeHostSettings | null | WrongCodeHost {
  const apiUrl = read("CODE_HOST_URL");
  const [appId, appKey, clientId, clientSecret] = needed.map((name) => read(name));
  const webUrl = read("CODE_HOST_WEB_URL");
  if (apiUrl === undefined) {
    const others = [appId, appKey, clientId, clientSecret, webUrl, read("CODE_HOST_WEBHOOK_SECRET")];
    if (others.every((value) => value === undefined)) return null;
    return { wrong: "CODE_HOST_URL: must be set where other settings of the code host are" };
  }
  if (appId === undefined || appKey === undefined || clientId === undefined || clientSecret === undefined) {
    return { wrong: `${needed.find((name) => read(name) === undefined)}: must be set where CODE_HOST_URL is` };
  }
  return { apiUrl, webUrl: webUrl ?? webUrlOf(apiUrl), appId, appKey, clientId, clientSecret };
}

/** Where people sign in at a code host whose API is there: `api.` before the host, or `/api/v3` after it, left out. */
function webUrlOf(apiUrl: string): string {
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
