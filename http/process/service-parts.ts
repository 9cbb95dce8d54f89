import { randomBytes as strongBytes } from "node:crypto";
import { resolve } from "node:path";
import { createKinds } from "../../actors/catalogue.js";
import { createHookTokenSigner, type HookTokenSigner } from "../../actors/hooks/delivery/hook-token.js";
import type { Kind } from "../../actors/resources/kind.js";
import { createSealer, type Sealer } from "../../actors/sealer.js";
import { findSealingKeyMark, toKeyMark } from "../../actors/workspaces/sealing-key.machine.js";
import { type Clock, createSystemClock, type Scheduler } from "../../runtime/clock.js";
import type { Formats, MigrationStep } from "../../storage/migrations.js";
import type { Reading, Store } from "../../storage/store.js";
import type { Config } from "../wire/config.js";
import { readRelease } from "../wire/release.js";
import type { Outcome, Route } from "../wire/route.js";
import type { ServiceLog } from "../wire/service-log.js";
import { WrongSetting } from "./config.js";
import { type Outbounds, openOutbound } from "./open-outbound.js";
import { openServedStore } from "./open-store.js";
import { holdsSecretsKey, loadOrCreateSecretsKey } from "./secrets-key.js";
import { openTraces, type Traces } from "./traces.js";

export interface ServiceOptions {
  readonly config: Config;
  readonly log: ServiceLog;
  /** Default: the system clock. */
  readonly clock?: Clock;
  /** Default: the event loop. */
  readonly scheduler?: Scheduler;
  /** Default: cryptographically strong random bytes of the system. */
  readonly randomBytes?: (count: number) => Uint8Array;
  /**
   * Whether to serve the store without changing it. Reads and sign-in work, with the sign-in links in the log. Nothing
   * else is changed, started or sent.
   */
  readonly isReadOnly?: boolean;
  /** Whether to answer a request with this `Host` header. By default, the service answers all requests. */
  readonly admitsHost?: (host: string | undefined) => boolean;
  /** An open store, which the service does not close. Default: the store in the data folder. */
  readonly store?: Store;
  /** Default: the migrations of the catalogue. */
  readonly migrations?: readonly MigrationStep[];
  /** Called when the store is open and the first line of the log is written. */
  readonly announced?: () => void;
  /** Aborting this signal during the store's migration interrupts the start with `MigrationCutShort`. */
  readonly ending?: AbortSignal;
  /** Called with the outcome of each request to a route. Tests compare it with the route's declaration. */
  readonly answered?: (route: Route, outcome: Outcome) => void;
  /** Called when the store has failed. The process should exit. */
  readonly onFatal?: (error: unknown) => void;
}

export type Close = () => Promise<void>;
/** Called for each opened part, with the function that closes the part. */
export type OnOpen = (close: Close) => void;

/** The parts of a service, and its state while it runs. */
export interface ServiceParts {
  readonly options: ServiceOptions;
  readonly clock: Clock;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly store: Store;
  /** Whether the store already had this release's format, so this start migrated nothing. */
  readonly wasCurrent: boolean;
  readonly sealer: Sealer;
  readonly kinds: readonly Kind[];
  /** Null without a signing key. */
  readonly tokens: HookTokenSigner | null;
  readonly outbounds: Outbounds;
  /** Null if the service records no traces. */
  readonly traces: Traces | null;
  /**
   * The service's address. It is set before the port is known, because effects that an earlier process left may already
   * run, and set again when the port is known.
   */
  site: Site;
  /** Whether the service accepts requests. */
  isReady: boolean;
}

/** Opens all parts except the runtime and the HTTP layer, one after the other. */
export async function openParts(options: ServiceOptions, onOpen: OnOpen): Promise<ServiceParts> {
  const randomBytes = options.randomBytes ?? ((count: number): Uint8Array => strongBytes(count));
  const clock = options.clock ?? createSystemClock();
  const { config, log, store: given, migrations: steps, ending, announced, isReadOnly = false } = options;
  const { store, wasCurrent } = await openServedStore(given, {
    isReadOnly,
    folder: config.dataFolder,
    log,
    nowMs: () => clock.now(),
    steps,
    ending,
    opened: (formats) => {
      log.info("starting", describeStart(config, formats, isReadOnly));
      announced?.();
    },
  });
  if (given === undefined) onOpen(() => store.close());
  const sealer = openSealer(config, store.reading, randomBytes);
  const traces = await openTraces(config.traceEndpoint);
  if (traces !== null) onOpen(() => traces.close());
  const outbounds = openOutbound({ config, clock, log, traceHeaders: traces?.headers, onOpen });
  const { hookSigningKey, hookRotationHours } = config;
  const tokens = hookSigningKey === null ? null : createHookTokenSigner(hookSigningKey);
  const { allowList, model } = outbounds;
  const of = { allowList, signsTokens: tokens !== null, judges: model !== null };
  const kinds = createKinds({ ...of, rotationHours: hookRotationHours, baseUrl: () => parts.site.baseUrl });
  const site = toSite(config, config.port);
  const opened = { options, clock, randomBytes, store, wasCurrent, sealer, kinds, tokens, outbounds, traces };
  const parts: ServiceParts = { ...opened, site, isReady: false };
  return parts;
}

/**
 * Creates the sealer with the key from the settings or the data folder. Throws {@link WrongSetting} if the store's
 * secrets are encrypted with another key.
 */
function openSealer(config: Config, reading: Reading, randomBytes: (count: number) => Uint8Array): Sealer {
  const { dataFolder, secretsKey, isSecretsKeyLost } = config;
  const known = isSecretsKeyLost ? null : findSealingKeyMark(reading);
  const wrong = (what: string) =>
    new WrongSetting(
      `SECRETS_KEY: the secrets in ${dataFolder} are encrypted with ${what}: set SECRETS_KEY to the original ` +
        "key, or restore its secrets.key there",
    );
  if (known !== null && secretsKey === null && !holdsSecretsKey(dataFolder)) throw wrong("a key that is missing");
  const sealer = createSealer(secretsKey ?? loadOrCreateSecretsKey(dataFolder, randomBytes), randomBytes);
  if (known !== null && known !== toKeyMark(sealer)) throw wrong("another key");
  return sealer;
}

/** Describes the start: the release, the data folder, the store's format and the address that the service listens on. */
function describeStart(
  { dataFolder, host, port, baseUrl }: Config,
  { from, to }: Formats,
  isReadOnly: boolean,
): Record<string, unknown> {
  return {
    release: readRelease(),
    dataFolder: resolve(dataFolder),
    storeFormat: to,
    ...(from !== to && { migratesFrom: from }),
    address: toSite({ host, baseUrl: null }, port).baseUrl,
    ...(baseUrl !== null && { baseUrl }),
    ...(isReadOnly && { isReadOnly }),
  };
}

interface Site {
  /** The URL of the service, without a trailing slash. */
  readonly baseUrl: string;
  /** The origin of the service's pages. */
  readonly origin: string;
}

/** Addresses that mean all interfaces of this machine. A service can listen on them, but a browser cannot open them. */
const EVERY_ADDRESS: readonly string[] = ["0.0.0.0", "::"];

/**
 * Returns whether no browser can open the links that the service writes. This is so if `BASE_URL` is not set and `HOST`
 * means all interfaces ({@link EVERY_ADDRESS}).
 */
export function isOpenedNowhere({ baseUrl, host }: Config): boolean {
  return baseUrl === null && EVERY_ADDRESS.includes(host);
}

/** Returns the service's address from `BASE_URL`, or else from host and port. */
export function toSite({ baseUrl: given, host }: Pick<Config, "baseUrl" | "host">, port: number): Site {
  const baseUrl = given ?? `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
  return { baseUrl, origin: new URL(baseUrl).origin };
}
