import { performance } from "node:perf_hooks";
import { accountRef } from "../../actors/access/accounts/account.messages.js";
import { cachedTables, createActorTypes, createEffects, gates, subscribers } from "../../actors/catalogue.js";
import { hasInstallation } from "../../actors/code-host/connection.queries.js";
import { redeliverFailed } from "../../actors/code-host/redelivery.js";
import { signingKeysRef } from "../../actors/hooks/delivery/signing-keys.machine.js";
import { ReadBodies } from "../../actors/integrations/read-bodies.js";
import { toJudgingSetup } from "../../actors/judging/judging-setup.js";
import type { CodeHost } from "../../actors/outbound/code-host/code-host.js";
import { parseAllowList } from "../../actors/outbound/http/allow-list.js";
import { toReplayJudging } from "../../actors/replays/judging/model-terms.js";
import { sealingKeyRef, toKeyMark } from "../../actors/workspaces/sealing-key.machine.js";
import { createEventLoopScheduler, type Scheduler } from "../../runtime/clock.js";
import { createRuntime } from "../../runtime/host.js";
import type { Runtime, RuntimeLog } from "../../runtime/runtime.js";
import { LoopRounds } from "../../runtime/schedule/loop-rounds.js";
import { removeFormatCopies } from "../../storage/format-copy.js";
import { readFormat } from "../../storage/migrations.js";
import { authenticate } from "../access/authenticate.js";
import type { EdgeParts } from "../access/edge-parts.js";
import { ExpiredCredentials } from "../access/expired-credentials.js";
import { issueSignInLink, makeToken } from "../access/sign-in-link.js";
import { FairTurns } from "../limits/fair-turns.js";
import { OpenSockets } from "../limits/open-sockets.js";
import { markDisconnected } from "../runners/mark-disconnected.js";
import { readRelease } from "../wire/release.js";
import type { ServiceLog } from "../wire/service-log.js";
import { beginEarlierWork } from "./begin-earlier-work.js";
import { readLastBackup } from "./last-backup.js";
import { assertListenable, listen, openEdge } from "./open-edge.js";
import { holdsStore } from "./open-store.js";
import {
  type Close,
  isOpenedNowhere,
  type OnOpen,
  openParts,
  type ServiceOptions,
  type ServiceParts,
  toSite,
} from "./service-parts.js";
import { warnNotAllowed } from "./warn-not-allowed.js";
import { openWatch, type Watch } from "./watch.js";

export interface Service {
  readonly baseUrl: string;
  /** The port that the service listens on. `baseUrl` may be the address of a proxy. */
  readonly port: number;
  readonly runtime: Runtime;
  /** Replaces the hosts that requests may go to. `outboundAllow` is a valid value of `OUTBOUND_ALLOW`. */
  allow(outboundAllow: string): void;
  /** Issues a link that signs a person in once, without a mail. For programs that run the service for its only user. */
  signInLink(email: string): Promise<string>;
  /**
   * Stops the service: it accepts no more requests, finishes in-flight ones, flushes and closes. A repeated call waits
   * until the first call is done.
   */
  stop(): Promise<void>;
}

/**
 * How long the service starts work of all kinds before it reads input again, in milliseconds, while several clients are
 * active.
 */
const SHARED_ROUND_MS = 0.05;
/** How long the service starts work before it reads input again, in milliseconds, while at most one client is active. */
const ROUND_MS = 4;

/**
 * How long in-flight requests may take after a stop, in milliseconds. Most supervisors kill the process after ten
 * seconds.
 */
const DRAIN_MS = 9_000;
/**
 * Maximum time, from the start of the stop, in which the service waits for effects that it must not repeat (tool
 * calls), in milliseconds.
 */
const FINISH_MS = 5_000;

/**
 * Starts the whole service in this process. If a part cannot start, rejects with a clear message and closes everything
 * that it opened. Parts are closed in reverse order.
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const closing: Close[] = [];
  const close = async (): Promise<void> => {
    for (const end of closing.splice(0).reverse()) await end();
  };
  const { config, store } = options;
  try {
    // Check the address before a store is created, so that a failed start leaves no store behind.
    if (store === undefined && !holdsStore(config.dataFolder)) await assertListenable(config);
    const parts = await openParts(options, (end) => closing.push(end));
    return await serve(parts, (end) => closing.push(end), close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function serve(parts: ServiceParts, onOpen: OnOpen, close: Close): Promise<Service> {
  const { options, sealer, tokens } = parts;
  const { config, log, isReadOnly = false } = options;
  const elapsedMs = () => performance.now();
  const idleMs = () => performance.nodeTiming.idleTime;
  const roundMs = () => (turns.isShared ? SHARED_ROUND_MS : ROUND_MS);
  const loop = options.scheduler ?? createEventLoopScheduler();
  const scheduler = new LoopRounds({ loop, elapsedMs, roundMs });
  const turns: FairTurns = new FairTurns({ scheduler, loop, elapsedMs, idleMs });
  const openSockets = new OpenSockets(config.socketsPerHolder);
  const watch = openWatch(parts, { runtime: () => runtime, openSockets, scheduler: loop });
  onOpen(async () => watch.reports.flush());
  const runtime: Runtime = await openRuntime(parts, { scheduler, turns, watch });
  onOpen(() => runtime.stop());
  let stopsAtMs = 0;
  onOpen(() => within(stopsAtMs + FINISH_MS - elapsedMs(), runtime.finishEffects()));
  if (!isReadOnly) {
    await runtime.ask(signingKeysRef, { type: "keys.use", key: tokens?.publicKey ?? null });
    await runtime.ask(sealingKeyRef, { type: "sealing.use", mark: toKeyMark(sealer) });
  }
  const transport = await openEdge(options, toEdgeParts(parts, runtime, watch), {
    turns,
    openSockets,
    traced: parts.traces?.traced,
  });
  onOpen(() => transport.close(DRAIN_MS));
  if (!isReadOnly) {
    await markDisconnected(runtime);
    await beginEarlierWork(runtime, parts.store);
  }
  const port = await listen(transport, config);
  parts.site = toSite(config, port);
  parts.isReady = true;
  const { baseUrl } = parts.site;
  log.info(`listening on ${baseUrl}`);
  if (parts.wasCurrent && !isReadOnly && options.store === undefined) removeOldFormats(config.dataFolder, log);
  if (isReadOnly) log.info("read-only: the service serves reads and sign-in, refuses other writes, and sends nothing");
  if (isOpenedNowhere(config))
    log.warn("links in emails do not work without a public address: set BASE_URL", { baseUrl });
  const { codeHost } = parts.outbounds;
  if (!isReadOnly) askMissedDeliveries({ codeHost, secret: config.codeHostWebhookSecret }, { runtime, log });
  const { allowList } = parts.outbounds;
  let latest = config.outboundAllow;
  const warn = (outboundAllow: string) => {
    latest = outboundAllow;
    // Skip the check in a read-only service: it sends nothing, and cannot store the result of the check.
    if (isReadOnly) return;
    const isOver = () => !parts.isReady || outboundAllow !== latest;
    const of = { reading: runtime.reading, store: parts.store, outboundAllow, allowList };
    warnNotAllowed({ ...of, log, scheduler: loop, isOver }).catch((error: unknown) => {
      log.error("cannot look for hooks and integrations that OUTBOUND_ALLOW does not allow", { error });
    });
  };
  warn(latest);
  const allow = (outboundAllow: string): void => {
    allowList.change(parseAllowList(outboundAllow));
    warn(outboundAllow);
  };
  let stopped: Promise<void> | null = null;
  const stop = (): Promise<void> => {
    parts.isReady = false;
    if (stopped === null) stopsAtMs = elapsedMs();
    stopped ??= close();
    return stopped;
  };
  // No request asked for these links, so each has a random source: the limit of links per source never applies.
  const signInLink = (to: string): Promise<string> =>
    issueSignInLink({ runtime, baseUrl: () => baseUrl }, { to, source: makeToken(runtime), sealedMailOf: null });
  return { baseUrl, port, runtime, allow, signInLink, stop };
}

/**
 * Removes the copies of the store's file that earlier migrations made. Call it when a start had nothing to migrate: the
 * migrated store then works, and nobody needs the copies.
 */
function removeOldFormats(folder: string, log: Pick<ServiceLog, "info" | "warn">): void {
  try {
    for (const path of removeFormatCopies(folder)) log.info(`removed ${path}: the migrated store is in use`);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    log.warn("cannot remove a copy of the store from before its migration", { why });
  }
}

/**
 * Asks the code host to redeliver the webhook deliveries that this service missed while it was down or failing. Does
 * nothing if there is no code host, webhook secret or installation. Runs in the background. Only logs a failure,
 * because the service also checks open pull requests every hour.
 */
function askMissedDeliveries(
  { codeHost, secret }: { readonly codeHost: CodeHost | null; readonly secret: string | null },
  { runtime, log }: { readonly runtime: Pick<Runtime, "reading" | "clock">; readonly log: Pick<RuntimeLog, "warn"> },
): void {
  if (codeHost === null || secret === null || !hasInstallation(runtime.reading, codeHost.name)) return;
  redeliverFailed(codeHost, runtime.clock.now()).catch((error: unknown) => {
    const why = error instanceof Error ? error.name : "unknown";
    log.warn("cannot request the code host's missed deliveries", { host: codeHost.name, why });
  });
}

interface RuntimeNeeds {
  readonly scheduler: Scheduler;
  readonly turns: FairTurns;
  readonly watch: Watch;
}

async function openRuntime(parts: ServiceParts, { scheduler, turns, watch }: RuntimeNeeds): Promise<Runtime> {
  const { options, store, clock, randomBytes, sealer, kinds, tokens, outbounds } = parts;
  const { config, log, isReadOnly = false } = options;
  const { hooks: outbound, network, accounts, codeHost, model } = outbounds;
  const effects = createEffects({
    clock,
    scheduler,
    sealer,
    log,
    accounts,
    codeHost,
    model,
    asked: watch.metrics.asked,
    reading: () => runtime.reading,
    newId: (prefix) => runtime.newId(prefix),
    baseUrl: () => parts.site.baseUrl,
    bodies: new ReadBodies(),
    mail: {
      smtpUrl: isReadOnly ? null : config.smtpUrl,
      from: `Signalbox <signalbox@${new URL(parts.site.baseUrl).hostname}>`,
      mailed: watch.metrics.mailed,
    },
    hooks: { outbound, network, tokens, rotates: config.hookRotationHours > 0, traceHeaders: parts.traces?.headers },
    integrations: { outbound },
  });
  const { retention, archives } = config;
  const settings = { retention, archives, judging: toReplayJudging(model?.settings ?? null) };
  const runtime: Runtime = await createRuntime({
    store,
    clock,
    randomBytes,
    log,
    cachedTables,
    tracing: parts.traces?.tracing,
    memories: watch.memories,
    reported: watch.reported,
    ...(isReadOnly && { resting: { takes: ({ kind }) => kind === accountRef("").kind } }),
    catalogue: { actors: createActorTypes(kinds, settings), subscribers, gates, effects },
    scheduler,
    elapsedMs: () => performance.now(),
    isShared: () => turns.isShared,
    onFatal: (error) => {
      parts.isReady = false;
      options.onFatal?.(error);
    },
  });
  return runtime;
}

function toEdgeParts(parts: ServiceParts, runtime: Runtime, { metrics, reported }: Watch): EdgeParts {
  const { options, sealer, kinds, outbounds } = parts;
  const { config, log } = options;
  const { allowList, network, accounts, verifier, codeHost } = outbounds;
  const expired = new ExpiredCredentials(runtime);
  const { reading } = runtime;
  const fixed = { release: readRelease(), storeFormat: readFormat(reading), startedAtMs: parts.clock.now() };
  return {
    runtime,
    kinds,
    sealer,
    judging: toJudgingSetup(outbounds.model?.settings ?? null),
    site: {
      baseUrl: () => parts.site.baseUrl,
      signInDomains: config.signInDomains,
      expired,
      callerOf: (credentials) => authenticate(credentials, runtime, expired, parts.site.origin),
    },
    hosts: { allowList, network, verifier, servers: accounts.servers },
    codeHost: { codeHost, secret: config.codeHostWebhookSecret },
    operation: {
      log,
      metricsToken: config.metricsToken,
      leaseMs: config.leaseSeconds * 1_000,
      metrics,
      reported,
      isReady: () => parts.isReady,
      state: () => ({ ...fixed, backupAtMs: readLastBackup(config.dataFolder) }),
    },
  };
}

/**
 * Resolves when the work is done or after `maxMs`, whichever is first. Resolves at once if `maxMs` is not positive.
 */
async function within(maxMs: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, maxMs);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
