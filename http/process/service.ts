import { randomBytes as strongBytes } from "node:crypto";
import { createWorkloadVerifier } from "../../actors/access/workload-token.js";
import { createActorTypes } from "../../actors/actor-types.js";
import { cachedTables } from "../../actors/cached-tables.js";
import { confirmationEffect } from "../../actors/code-host/confirmation.effects.js";
import { installationCheckEffect } from "../../actors/code-host/installation-check.effects.js";
import { deliveryEffect, MAX_OUTPUT_BYTES } from "../../actors/hooks/delivery/delivery.effects.js";
import { createHookTokenSigner } from "../../actors/hooks/delivery/hook-token.js";
import { signingKeysRef, type UseKey } from "../../actors/hooks/delivery/signing-keys.machine.js";
import { oauthEffects } from "../../actors/integrations/oauth.effects.js";
import { createKinds } from "../../actors/kinds.js";
import { parseAllowList, toIssuerAllowList } from "../../actors/outbound/allow-list.js";
import { type CodeHost, createCodeHost } from "../../actors/outbound/code-host.js";
import { MAX_ANSWER_BYTES } from "../../actors/outbound/code-host-requests.js";
import { codeHostAddresses } from "../../actors/outbound/code-host-settings.js";
import { mailEffect } from "../../actors/outbound/mail.effects.js";
import { NetworkRequests } from "../../actors/outbound/network-requests.js";
import { createAuthorizationServers, MAX_OAUTH_ANSWER_BYTES } from "../../actors/outbound/oauth-server.js";
import { createIssuerKeys, MAX_DOCUMENT_BYTES } from "../../actors/outbound/oidc-discovery.js";
import { createOutbound, type Outbound } from "../../actors/outbound/request.js";
import { createSealer, type Sealer } from "../../actors/sealer.js";
import { gates, subscribers } from "../../actors/subscriptions.js";
import {
  findSealingKeyMark,
  sealingKeyRef,
  toKeyMark,
  type UseSealingKey,
} from "../../actors/workspaces/sealing-key.machine.js";
import { type Clock, createEventLoopScheduler, createSystemClock, type Scheduler } from "../../runtime/clock.js";
import { createRuntime } from "../../runtime/host.js";
import { isRebuildCutShort } from "../../runtime/rebuild-directories.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { MigrationStep } from "../../storage/migrations.js";
import type { Reading, Store } from "../../storage/store.js";
import { authenticate } from "../authenticate.js";
import { createAdmission } from "../limits/admission.js";
import { createClientAddress, parseNetworks } from "../limits/client-address.js";
import { OpenSockets } from "../limits/open-sockets.js";
import type { Outcome, Route } from "../route.js";
import { createRoutes, createSockets, type RouteParts } from "../routes.js";
import { markDisconnected } from "../runners/mark-disconnected.js";
import { openTransport } from "../transport/open-transport.js";
import { createHandlers } from "../transport/server.js";
import type { Transport } from "../transport/transport.js";
import { type Config, WrongSetting } from "./config.js";
import type { ServiceLog } from "./log.js";
import { createMetrics } from "./metrics.js";
import { bringUpToDate, openStore } from "./open-store.js";
import { holdsSecretsKey, loadOrCreateSecretsKey } from "./secrets-key.js";

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

export interface Service {
  readonly baseUrl: string;
  /** The port it listens on, which a `BASE_URL` of a proxy does not tell. */
  readonly port: number;
  readonly runtime: Runtime;
  /** Drains: stops accepting, finishes what is under way, flushes, closes. Asked again, it waits for the same end. */
  stop(): Promise<void>;
}

/** Time requests under way are given at a stop, in milliseconds. */
const DRAIN_MS = 10_000;

/**
 * Starts the whole service in this process. Rejects with a clear message when a part of it cannot start, and leaves
 * nothing open then.
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const closing: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const end of closing.splice(0).reverse()) await end();
  };
  try {
    return await open(options, closing, close);
  } catch (error) {
    await close();
    throw error;
  }
}

/** Opens part after part; what is open is closed in the reverse order. */
async function open(
  options: ServiceOptions,
  closing: (() => Promise<void>)[],
  close: () => Promise<void>,
): Promise<Service> {
  const { config, log } = options;
  const randomBytes = options.randomBytes ?? ((count: number): Uint8Array => strongBytes(count));
  const clock = options.clock ?? createSystemClock();
  const store = await openUpToDate(options, clock);
  if (options.store === undefined) closing.push(() => store.close());
  if (isRebuildCutShort(store.reading)) {
    throw new WrongSetting(
      `The directory in ${config.dataFolder} was not rebuilt to its end: run npm run rebuild-directory -- --data ${config.dataFolder}`,
    );
  }
  const sealer = openSealer(config, store.reading, randomBytes);
  const allowList = parseAllowList(config.outboundAllow);
  const kinds = createKinds({
    allowList,
    signsTokens: config.hookSigningKey !== null,
    rotationHours: config.hookRotationHours,
  });
  const tokens = config.hookSigningKey === null ? null : createHookTokenSigner(config.hookSigningKey);
  const outbound = createOutbound({ allowList, keepBytes: MAX_OUTPUT_BYTES });
  closing.push(() => outbound.close());
  const network = new NetworkRequests(clock);
  const toIssuers = createOutbound({ allowList: toIssuerAllowList(allowList), keepBytes: MAX_DOCUMENT_BYTES + 1 });
  closing.push(() => toIssuers.close());
  const now = () => clock.now();
  const codeHost = openCodeHost(config, now, log);
  if (codeHost !== null) closing.push(() => codeHost.outbound.close());
  const toHosts = createOutbound({ allowList, keepBytes: MAX_OAUTH_ANSWER_BYTES + 1 });
  closing.push(() => toHosts.close());
  const servers = createAuthorizationServers({ outbound: toHosts, now });
  const verifier = createWorkloadVerifier({ keys: createIssuerKeys({ outbound: toIssuers, now }), now });
  // Effects that an earlier process left may run before the port is known, so what can be told is told at once.
  let baseUrl = baseUrlOf(config, config.port);
  let origin = new URL(baseUrl).origin;
  let ready = false;
  const runtime: Runtime = await createRuntime({
    store,
    catalogue: {
      actors: createActorTypes(kinds),
      subscribers,
      gates,
      effects: [
        mailEffect({
          sealer,
          smtpUrl: config.smtpUrl,
          from: `Signalbox <signalbox@${new URL(baseUrl).hostname}>`,
          log,
        }),
        installationCheckEffect(codeHost?.client ?? null),
        confirmationEffect({ codeHost: codeHost?.client ?? null, sealer }),
        deliveryEffect({
          ...{
            reading: () => runtime.reading,
            outbound,
            network,
            sealer,
            clock,
            tokens,
            rotates: config.hookRotationHours > 0,
          },
          ...{ baseUrl: () => baseUrl, newId: (prefix) => runtime.newId(prefix) },
        }),
        ...oauthEffects({ reading: () => runtime.reading, outbound: toHosts, servers, sealer, clock, log }),
      ],
    },
    clock,
    scheduler: options.scheduler ?? createEventLoopScheduler(),
    randomBytes,
    log,
    cachedTables,
    onFatal: (error) => {
      ready = false;
      options.onFatal?.(error);
    },
  });
  closing.push(() => runtime.stop());
  const use: UseKey = { type: "keys.use", key: tokens?.publicKey ?? null };
  await runtime.ask(signingKeysRef, use);
  const seal: UseSealingKey = { type: "sealing.use", mark: toKeyMark(sealer) };
  await runtime.ask(sealingKeyRef, seal);
  const metrics = createMetrics(() => runtime.stats());
  const transport = await openEdge(options, {
    runtime,
    kinds,
    sealer,
    config,
    metrics,
    network,
    baseUrl: () => baseUrl,
    isReady: () => ready,
    verifier,
    codeHost: codeHost?.client ?? null,
    servers,
    allowList,
    log,
    callerOf: (credentials) => authenticate(credentials, runtime.reading, clock, origin),
  });
  closing.push(() => transport.close(DRAIN_MS));
  await markDisconnected(runtime);
  const port = await listen(transport, config);
  baseUrl = baseUrlOf(config, port);
  origin = new URL(baseUrl).origin;
  ready = true;
  log.info(`listening on ${baseUrl}`);
  let stopped: Promise<void> | null = null;
  return {
    baseUrl,
    port,
    runtime,
    stop: () => {
      ready = false;
      stopped ??= close();
      return stopped;
    },
  };
}

/** The store that was given or the data folder's, in the format of this release. */
async function openUpToDate(
  { store, config, log, migrations: steps, ending }: ServiceOptions,
  clock: Clock,
): Promise<Store> {
  const options = { folder: config.dataFolder, log, nowMs: () => clock.now(), steps, ending };
  if (store === undefined) return openStore(options);
  await bringUpToDate(store, options);
  return store;
}

/** The sealer of the key that is set or kept. Throws {@link WrongSetting} where the store was sealed under another. */
function openSealer(config: Config, reading: Reading, randomBytes: (count: number) => Uint8Array): Sealer {
  const { dataFolder, secretsKey, isSecretsKeyLost } = config;
  const known = isSecretsKeyLost ? null : findSealingKeyMark(reading);
  const wrong = (what: string) =>
    new WrongSetting(
      `SECRETS_KEY: the secrets in ${dataFolder} are encrypted with ${what}: set that one, or put its secrets.key there`,
    );
  if (known !== null && secretsKey === null && !holdsSecretsKey(dataFolder)) throw wrong("a key that is missing");
  const sealer = createSealer(secretsKey ?? loadOrCreateSecretsKey(dataFolder, randomBytes), randomBytes);
  if (known !== null && known !== toKeyMark(sealer)) throw wrong("another key");
  return sealer;
}

/** The code host that is set up, and the way to it; null without one. */
function openCodeHost(
  { codeHost: settings }: Config,
  now: () => number,
  log: ServiceLog,
): { readonly client: CodeHost; readonly outbound: Outbound } | null {
  if (settings === null) return null;
  const outbound = createOutbound({ allowList: codeHostAddresses(settings), keepBytes: MAX_ANSWER_BYTES });
  return { client: createCodeHost({ settings, outbound, now, log }), outbound };
}

function openEdge({ config, log, answered }: ServiceOptions, parts: RouteParts): Promise<Transport> {
  const handlers = createHandlers({
    routes: createRoutes(parts),
    sockets: createSockets(parts),
    authenticate: parts.callerOf,
    clientAddress: createClientAddress(parseNetworks(config.trustedProxies)),
    admission: createAdmission(config.rates, parts.runtime.clock),
    openSockets: new OpenSockets(config.socketsPerHolder),
    newRequestId: () => parts.runtime.newId("req"),
    seconds: () => performance.now() / 1_000,
    served: (served) => {
      log.served(served);
      parts.metrics.served(served);
    },
    failed: (requestId, error) => log.failed(requestId, error),
    ...(answered === undefined ? {} : { answered }),
  });
  return openTransport(config.transport, handlers, log);
}

async function listen(transport: Transport, { host, port }: Config): Promise<number> {
  try {
    return await transport.listen(host, port);
  } catch (error) {
    throw new WrongSetting(`HOST, PORT: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function baseUrlOf(config: Config, port: number): string {
  return config.baseUrl ?? `http://${config.host.includes(":") ? `[${config.host}]` : config.host}:${port}`;
}
