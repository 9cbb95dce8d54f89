import type { ArchiveLimits } from "../../actors/archives/classify-archive.js";
import type { CodeHostSettings } from "../../actors/outbound/code-host/code-host-settings.js";
import type { ModelSettings } from "../../actors/outbound/models/model-settings.js";
import type { RetentionPeriods } from "../../actors/tables/retention.js";

/** The validated settings of the service. */
export interface Config {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** The public URL, without a trailing slash. Null to use the address that the service listens on. */
  readonly baseUrl: string | null;
  readonly dataFolder: string;
  readonly smtpUrl: string | null;
  readonly outboundAllow: string;
  /** 32 bytes; null to use the key in the data folder. */
  readonly secretsKey: Uint8Array | null;
  /** Whether to start even though another key encrypted the secrets in the store. */
  readonly isSecretsKeyLost: boolean;
  /** Mail domains that may sign in; null allows all domains. */
  readonly signInDomains: readonly string[] | null;
  readonly hookSigningKey: string | null;
  /** Time after a rotation during which hooks are also signed with the old secret, in hours; 0 for none. */
  readonly hookRotationHours: number;
  /** Lease of a runner's claim, in seconds. */
  readonly leaseSeconds: number;
  /**
   * Bearer token of the metrics endpoint. If it is null, only requests from this machine that did not come through a
   * proxy are allowed.
   */
  readonly metricsToken: string | null;
  readonly rates: AdmissionRates;
  /** Maximum number of open sockets for each person, token or pool; 0 for no limit. */
  readonly socketsPerHolder: number;
  /** Null if no code host is configured. */
  readonly codeHost: CodeHostSettings | null;
  /** The secret that the code host signs its deliveries with. Null rejects all deliveries. */
  readonly codeHostWebhookSecret: string | null;
  /** Null if no model is configured. */
  readonly model: ModelSettings | null;
  /** Comma-separated addresses and networks of trusted proxies. The service trusts their `X-Forwarded-For` header. */
  readonly trustedProxies: string;
  /** The retention period of each kind of data. */
  readonly retention: RetentionPeriods;
  /** Limits on the commit packs that replay sets need. */
  readonly archives: ArchiveLimits;
  readonly transport: "uws" | "node";
  /** The base URL of an OTLP receiver; null to record no traces. */
  readonly traceEndpoint: string | null;
  /** `json` for a JSON object per line; `pretty` for readable lines. */
  readonly logFormat: "json" | "pretty";
  readonly logLevel: "debug" | "info" | "warn" | "error" | "silent";
}

/** Rate limits; 0 for none. */
export interface AdmissionRates {
  readonly perCredentialASecond: number;
  readonly perAddressASecond: number;
  /** Maximum number of requests with status 401 from one address per minute. */
  readonly failuresAMinute: number;
}
