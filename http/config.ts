import { z } from "zod";

/** The settings of the service, checked. */
export interface Config {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** Null takes the address it listens on. No slash at the end. */
  readonly baseUrl: string | null;
  readonly dataFolder: string;
  readonly smtpUrl: string | null;
  readonly outboundAllow: string;
  /** 32 bytes, or null for the key kept in the data folder. */
  readonly secretsKey: Uint8Array | null;
  /** Null admits any. */
  readonly signInDomains: readonly string[] | null;
  readonly hookSigningKey: string | null;
  /** Seconds a claim lasts without a beat of its runner. */
  readonly leaseSeconds: number;
  readonly transport: "uws" | "node";
  readonly logLevel: "debug" | "info" | "warn" | "error" | "silent";
}

/** A setting that cannot be taken; the message names it and is one line. */
export class WrongSetting extends Error {
  override readonly name = "WrongSetting";
}

const httpUrl = z.string().refine((text) => {
  const url = parseUrl(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.search === "" && url.hash === "";
}, "must be an http or https address without query or fragment");

const settings = {
  HOST: z.string().min(1).default("127.0.0.1"),
  PORT: z.coerce.number("must be a port").int("must be a port").min(0).max(65_535).default(8787),
  BASE_URL: httpUrl.optional(),
  DATA_DIR: z.string().min(1).default("./data"),
  SMTP_URL: z
    .string()
    .regex(/^smtps?:\/\//, "must be an smtp or smtps address")
    .optional(),
  OUTBOUND_ALLOW: z.string().default(""),
  SECRETS_KEY: z
    .string()
    .refine((text) => Buffer.from(text, "base64").length === 32, "must be 32 bytes in base64")
    .optional(),
  SIGN_IN_DOMAINS: z
    .string()
    .regex(/^[a-z0-9.-]+(\s*,\s*[a-z0-9.-]+)*$/i, "must be a comma list of mail domains")
    .optional(),
  HOOK_SIGNING_KEY: z.string().min(1).optional(),
  LEASE_SECONDS: z.coerce.number("must be seconds").min(1, "must be at least 1").max(3_600).default(30),
  TRANSPORT: z.enum(["uws", "node"], "must be uws or node").default("uws"),
  LOG_LEVEL: z.enum(["debug", "info", "warn", "error", "silent"]).default("info"),
} as const;

/** Reads the settings from an environment. Throws {@link WrongSetting} for the first that cannot be taken. */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const read = <Name extends keyof typeof settings>(name: Name): z.output<(typeof settings)[Name]> => {
    const given = environment[name];
    const parsed = settings[name].safeParse(given === "" ? undefined : given);
    if (parsed.success) return parsed.data as z.output<(typeof settings)[Name]>;
    throw new WrongSetting(`${name}: ${parsed.error.issues[0]?.message ?? "cannot be taken"}`);
  };
  const secretsKey = read("SECRETS_KEY");
  return {
    host: read("HOST"),
    port: read("PORT"),
    baseUrl: read("BASE_URL")?.replace(/\/+$/, "") ?? null,
    dataFolder: read("DATA_DIR"),
    smtpUrl: read("SMTP_URL") ?? null,
    outboundAllow: read("OUTBOUND_ALLOW"),
    secretsKey: secretsKey === undefined ? null : Buffer.from(secretsKey, "base64"),
    signInDomains:
      read("SIGN_IN_DOMAINS")
        ?.toLowerCase()
        .split(/\s*,\s*/) ?? null,
    hookSigningKey: read("HOOK_SIGNING_KEY") ?? null,
    leaseSeconds: read("LEASE_SECONDS"),
    transport: read("TRANSPORT"),
    logLevel: read("LOG_LEVEL"),
  };
}

function parseUrl(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}
