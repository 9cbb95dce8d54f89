import { randomBytes as strongBytes } from "node:crypto";
import { createHookTokenSigner, type HookTokenSigner } from "../../actors/hooks/delivery/hook-token.js";
import { createKinds } from "../../actors/kinds.js";
import type { Kind } from "../../actors/resources/kind.js";
import type { Sealer } from "../../actors/sealer.js";
import { type Clock, createSystemClock, type Scheduler } from "../../runtime/clock.js";
import type { MigrationStep } from "../../storage/migrations.js";
import type { Store } from "../../storage/store.js";
import type { Outcome, Route } from "../route.js";
import type { Config } from "./config.js";
import type { ServiceLog } from "./log.js";
import { type Outbounds, openOutbound } from "./open-outbound.js";
import { openSealer } from "./open-sealer.js";
import { openServedStore } from "./open-store.js";

export interface ServiceOptions {
  readonly config: Config;
  readonly log: ServiceLog;
  /** The system's clock unless a test drives one. */
  readonly clock?: Clock;
  /** The event loop unless a test decides. */
  readonly scheduler?: Scheduler;
  /** The system's strong ones unless a test wants the same every time. */
  readonly randomBytes?: (count: number) => Uint8Array;
  /** A store already open, kept open at the end; else one in the data folder. */
  readonly store?: Store;
  /** The catalogue's unless a test has its own. */
  readonly migrations?: readonly MigrationStep[];
  /** Ends a start that is still bringing its store up to date, with `MigrationCutShort`. */
  readonly ending?: AbortSignal;
  /** Told what each request to a route ends in; tests check it against what the route declares. */
  readonly answered?: (route: Route, outcome: Outcome) => void;
  /** Told when nothing can be stored any more: the process should end. */
  readonly onFatal?: (error: unknown) => void;
}

export type Close = () => Promise<void>;
/** Told what closes a part that was opened. */
export type OnOpen = (close: Close) => void;

/** What a service is made of, and what changes of it while it runs. */
export interface ServiceParts {
  readonly options: ServiceOptions;
  readonly clock: Clock;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly store: Store;
  readonly sealer: Sealer;
  readonly kinds: readonly Kind[];
  /** Null without a key to sign with. */
  readonly tokens: HookTokenSigner | null;
  readonly outbounds: Outbounds;
  /** Effects that an earlier process left may run before the port is known, so what can be told is told at once. */
  site: Site;
  /** Whether requests are taken. */
  isReady: boolean;
}

/** Opens the parts one after the other, the runtime and the edge apart. */
export async function openParts(options: ServiceOptions, onOpen: OnOpen): Promise<ServiceParts> {
  const randomBytes = options.randomBytes ?? ((count: number): Uint8Array => strongBytes(count));
  const clock = options.clock ?? createSystemClock();
  const { config, log, store: given, migrations: steps, ending } = options;
  const store = await openServedStore(given, {
    folder: config.dataFolder,
    log,
    nowMs: () => clock.now(),
    steps,
    ending,
  });
  if (given === undefined) onOpen(() => store.close());
  const sealer = openSealer(config, store.reading, randomBytes);
  const outbounds = openOutbound({ config, clock, log, onOpen });
  const { hookSigningKey, hookRotationHours } = config;
  const tokens = hookSigningKey === null ? null : createHookTokenSigner(hookSigningKey);
  const { allowList } = outbounds;
  const kinds = createKinds({ allowList, signsTokens: tokens !== null, rotationHours: hookRotationHours });
  const site = toSite(config, config.port);
  return { options, clock, randomBytes, store, sealer, kinds, tokens, outbounds, site, isReady: false };
}

/** Where the service is reached. */
interface Site {
  /** Without a slash at the end. */
  readonly baseUrl: string;
  /** The origin that pages of the service have. */
  readonly origin: string;
}

/** The site at this port of the machine, which a `BASE_URL` of a proxy replaces. */
export function toSite({ baseUrl: given, host }: Config, port: number): Site {
  const baseUrl = given ?? `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
  return { baseUrl, origin: new URL(baseUrl).origin };
}
