import { z } from "zod";
import { createHookTokenSigner } from "../../actors/hooks/delivery/hook-token.js";
import { parseAllowList } from "../../actors/outbound/http/allow-list.js";
import { defaultRetention } from "../../actors/tables/retention.js";
import { codeHostSettings, findCodeHost } from "../code-host/code-host-config.js";
import { parseNetworks } from "../limits/client-address.js";
import type { Config } from "../wire/config.js";
import { findModel, modelSettings } from "./model-config.js";
import { parseKey } from "./secrets-key.js";

/** Settings by name, as text. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** An invalid setting. The message is one line that names the setting. */
export class WrongSetting extends Error {
  override readonly name = "WrongSetting";
}

const httpUrl = z.string().refine((text) => {
  const url = parseUrl(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") return false;
  return url.pathname === "/" && !/[?#]/.test(text);
}, "must be an http or https address with nothing after the host");

/** An integer from `least` to `max`, written as at most six digits. */
const digits = (least: number, max: number, message: string) =>
  z
    .string()
    .regex(/^\d{1,6}$/, message)
    .transform(Number)
    .refine((value) => value >= least && value <= max, message);

const HOUR_MS = 60 * 60 * 1_000;
const DAY_MS = 24 * HOUR_MS;
/** Longest duration that can be set, in hours. */
const MAX_HOURS = 24 * 10_000;

/** A duration in hours or days (`12h`, `200d`), converted to milliseconds. */
const duration = z
  .string()
  .regex(/^[1-9]\d{0,5}[hd]$/, "must be hours or days, 1h to 10000d")
  .transform((text) => Number.parseInt(text, 10) * (text.endsWith("d") ? 24 : 1))
  .refine((hours) => hours <= MAX_HOURS, "must be hours or days, 1h to 10000d")
  .transform((hours) => hours * HOUR_MS);

/** A setting for a retention period. `defaultMs` is its default in milliseconds. */
const retention = (defaultMs: number, description: string) =>
  duration.default(defaultMs).meta({ description, written: `${defaultMs / DAY_MS}d` });

/** Returns a check that rejects a text if `parse` throws for it. The check reports the message of the thrown error. */
const readableBy = (parse: (text: string) => unknown) => (text: string, context: z.RefinementCtx) => {
  try {
    parse(text);
  } catch (error) {
    context.addIssue({ code: "custom", message: error instanceof Error ? error.message : String(error) });
  }
};

/** Every setting by name: how to parse it, its default, and a short description. */
export const settings = {
  SETTINGS_FILE: z
    .string()
    .optional()
    .describe("file with more settings, one KEY=value per line; the environment takes precedence; SIGHUP reloads it"),
  HOST: z.string().min(1).default("127.0.0.1").describe("address that the service listens on"),
  PORT: digits(0, 65_535, "must be a port, 0 to 65535")
    .default(8787)
    .describe("port that the service listens on; 0 picks a free one"),
  BASE_URL: httpUrl
    .optional()
    .meta({ description: "address that people and programs use to reach the service", written: "http://HOST:PORT" }),
  DATA_DIR: z.string().min(1).default("./data").describe("folder of the store; created if it is missing"),
  SMTP_URL: z
    .string()
    .refine((text) => /^smtps?:$/.test(parseUrl(text)?.protocol ?? ""), "must be an smtp or smtps address")
    .optional()
    .describe("mail server; without it, mails go to the log"),
  OUTBOUND_ALLOW: z
    .string()
    .superRefine(readableBy(parseAllowList))
    .default("")
    .describe("comma-separated hosts that hooks and integrations may send requests to"),
  SECRETS_KEY: z
    .string()
    .refine((text) => parseKey(text) !== null, "must be 32 bytes in base64")
    .optional()
    .meta({
      description: "key that encrypts secrets: 32 bytes in base64",
      written: "a new key in DATA_DIR/secrets.key",
    }),
  SECRETS_KEY_LOST: z
    .literal("yes", "must be yes, or not be set")
    .optional()
    .describe("yes starts with another key: values encrypted with the old key are lost"),
  SIGN_IN_DOMAINS: z
    .string()
    .regex(/^[a-z0-9.-]+(\s*,\s*[a-z0-9.-]+)*$/i, "must be a comma list of mail domains")
    .optional()
    .describe("comma-separated mail domains that may sign in; without it, all"),
  HOOK_SIGNING_KEY: z
    .string()
    .refine(isSigningKey, "must be an ES256 private key, PEM (PKCS8) or JWK")
    .optional()
    .describe("ES256 private key, PEM or JWK, that signs the OIDC tokens of hooks"),
  HOOK_ROTATION_HOURS: digits(0, 720, "must be hours, 0 to 720")
    .default(0)
    .describe("hours in which hooks also sign with the previous secret after a rotation"),
  LEASE_SECONDS: digits(1, 3_600, "must be seconds, 1 to 3600")
    .default(30)
    .describe("seconds after which a silent runner loses its runs"),
  METRICS_TOKEN: z
    .string()
    .regex(/^[A-Za-z0-9._~+/=-]{16,200}$/, "must be 16 to 200 letters, digits or ._~+/=-")
    .optional()
    .describe("bearer token for GET /metrics; without it, only this machine can read the metrics"),
  RATE_PER_CREDENTIAL: digits(0, 999_999, "must be requests a second, 0 to 999999")
    .default(500)
    .describe("requests per second from one person or token; 0 means no limit"),
  RATE_PER_ADDRESS: digits(0, 999_999, "must be requests a second, 0 to 999999")
    .default(1_000)
    .describe("requests per second from one address without a valid credential; 0 means no limit"),
  RATE_OF_FAILURES: digits(0, 999_999, "must be requests a minute, 0 to 999999")
    .default(300)
    .describe("rejected credentials per minute from one address; 0 means no limit"),
  SOCKETS_PER_CREDENTIAL: digits(0, 999_999, "must be a number of sockets, 0 to 999999")
    .default(1_000)
    .describe("open WebSockets of one person, token or pool; 0 means no limit"),
  ...codeHostSettings,
  ...modelSettings,
  RETENTION_WORK: retention(defaultRetention.work, "how long ended tasks and their runs are stored"),
  RETENTION_FACTS: retention(defaultRetention.facts, "how long the records behind figures are stored"),
  RETENTION_HOOKS: retention(defaultRetention.hooks, "how long hook firings are stored"),
  RETENTION_CHANGES: retention(defaultRetention.changes, "how long the change log is stored"),
  ARCHIVE_MIB_PER_WORKSPACE: digits(0, 999_999, "must be MiB, 0 to 999999")
    .default(4_096)
    .describe("MiB that the commits of a workspace's replay sets may use"),
  TRUSTED_PROXIES: z
    .string()
    .superRefine(readableBy(parseNetworks))
    .default("")
    .describe("comma-separated addresses and networks of proxies whose X-Forwarded-For is trusted"),
  TRANSPORT: z
    .enum(["uws", "node"], "must be uws or node")
    .default("uws")
    .describe("HTTP server: uws (uWebSockets.js) or node (node:http)"),
  LOG_LEVEL: z
    .enum(["debug", "info", "warn", "error", "silent"], "must be debug, info, warn, error or silent")
    .default("info")
    .describe("lowest level of the log: debug, info, warn, error or silent"),
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url({ protocol: /^https?$/, error: "must be an http or https address" })
    .optional()
    .describe("OTLP receiver (HTTP) for traces, such as http://127.0.0.1:4318"),
  LOG_FORMAT: z
    .enum(["json", "pretty"], "must be json or pretty")
    .default("json")
    .describe("form of log lines: json or pretty"),
} as const;

/** Reads the settings from an environment. Throws {@link WrongSetting} for the first invalid one. */
export function readConfig(environment: Environment): Config {
  const read = <Name extends keyof typeof settings>(name: Name): z.output<(typeof settings)[Name]> => {
    const given = environment[name];
    const parsed = settings[name].safeParse(given === "" ? undefined : given);
    if (parsed.success) return parsed.data as z.output<(typeof settings)[Name]>;
    throw new WrongSetting(`${name}: ${parsed.error.issues[0]?.message ?? "is not valid"}`);
  };
  const secretsKey = read("SECRETS_KEY");
  const codeHost = findCodeHost(read);
  if (codeHost !== null && "wrong" in codeHost) throw new WrongSetting(codeHost.wrong);
  const model = findModel(read);
  if (model !== null && "wrong" in model) throw new WrongSetting(model.wrong);
  return {
    host: read("HOST"),
    port: read("PORT"),
    baseUrl: read("BASE_URL")?.replace(/\/+$/, "") ?? null,
    dataFolder: read("DATA_DIR"),
    smtpUrl: read("SMTP_URL") ?? null,
    outboundAllow: read("OUTBOUND_ALLOW"),
    secretsKey: secretsKey === undefined ? null : parseKey(secretsKey),
    isSecretsKeyLost: read("SECRETS_KEY_LOST") !== undefined,
    signInDomains:
      read("SIGN_IN_DOMAINS")
        ?.toLowerCase()
        .split(/\s*,\s*/) ?? null,
    hookSigningKey: read("HOOK_SIGNING_KEY") ?? null,
    hookRotationHours: read("HOOK_ROTATION_HOURS"),
    leaseSeconds: read("LEASE_SECONDS"),
    metricsToken: read("METRICS_TOKEN") ?? null,
    rates: {
      perCredentialASecond: read("RATE_PER_CREDENTIAL"),
      perAddressASecond: read("RATE_PER_ADDRESS"),
      failuresAMinute: read("RATE_OF_FAILURES"),
    },
    socketsPerHolder: read("SOCKETS_PER_CREDENTIAL"),
    codeHost,
    codeHostWebhookSecret: read("CODE_HOST_WEBHOOK_SECRET") ?? null,
    model,
    trustedProxies: read("TRUSTED_PROXIES"),
    retention: {
      work: read("RETENTION_WORK"),
      facts: read("RETENTION_FACTS"),
      hooks: read("RETENTION_HOOKS"),
      changes: read("RETENTION_CHANGES"),
    },
    archives: { bytesPerWorkspace: read("ARCHIVE_MIB_PER_WORKSPACE") * 1024 ** 2 },
    transport: read("TRANSPORT"),
    logLevel: read("LOG_LEVEL"),
    traceEndpoint: read("OTEL_EXPORTER_OTLP_ENDPOINT")?.replace(/\/+$/, "") ?? null,
    logFormat: read("LOG_FORMAT"),
  };
}

function parseUrl(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

function isSigningKey(text: string): boolean {
  try {
    return createHookTokenSigner(text).publicKey.kid !== "";
  } catch {
    return false;
  }
}
