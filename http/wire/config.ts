import type { ArchiveLimits } from "../../actors/archives/classify-archive.js";
import type { CodeHostSettings } from "../../actors/outbound/code-host/code-host-settings.js";
import type { ModelSettings } from "../../actors/outbound/models/model-settings.js";
import type { RetentionPeriods } from "../../actors/tables/retention.js";

/** The settings of the service, checked. */
export interface Config {
  readonly host: string;
  /** 0 for a free one. */
  readonly port: number;
  /** Without a slash at the end; null for the address it listens on. */
  readonly baseUrl: string | null;
  readonly dataFolder: string;
  readonly smtpUrl: string | null;
  readonly outboundAllow: string;
  /** 32 bytes, or null for the key kept in the data folder. */
  readonly secretsKey: Uint8Array | null;
  /** Whether to start even if the store's secrets were encrypted with another key. */
  readonly isSecretsKeyLost: boolean;
  /** Mail domains that may sign in; null for any. */
  readonly signInDomains: readonly string[] | null;
  readonly hookSigningKey: string | null;
  /** Hours for which hooks are also signed with a replaced secret; 0 for none. */
  readonly hookRotationHours: number;
  /** Lease of a runner's claims, in seconds. */
  readonly leaseSeconds: number;
  /** Bearer token for the metrics; null admits only this machine. */
  readonly metricsToken: string | null;
  readonly rates: AdmissionRates;
  /** Most open sockets of a person, token or pool; 0 for no limit. */
  readonly socketsPerHolder: number;
  /** Null when no code host is set up. */
  readonly codeHost: CodeHostSettings | null;
  /** The secret that the code host signs its deliveries with; null refuses them. */
  readonly codeHostWebhookSecret: string | null;
  /** Null when no model is set up. */
  readonly model: ModelSettings | null;
  /** Comma list of addresses and networks whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: string;
  /** How long what has ended is stored. */
  readonly retention: RetentionPeriods;
  /** What the packs of commits that replay sets need may take. */
  readonly archives: ArchiveLimits;
  readonly transport: "uws" | "node";
  readonly logLevel: "debug" | "info" | "warn" | "error" | "silent";
}

/** Rate limits; 0 for none. */
export interface AdmissionRates {
  readonly perCredentialASecond: number;
  readonly perAddressASecond: number;
  /** Requests of one address that end with 401. */
  readonly failuresAMinute: number;
}
