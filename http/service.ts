import { randomBytes as strongBytes } from "node:crypto";
import { createActorTypes } from "../actors/actor-types.js";
import { deliveryEffect, KEPT_OUTPUT_BYTES } from "../actors/hooks/delivery.effects.js";
import { createKinds } from "../actors/kinds.js";
import { parseAllowList } from "../actors/outbound/allow-list.js";
import { mailEffect } from "../actors/outbound/mail.effects.js";
import { createOutbound } from "../actors/outbound/request.js";
import { gatings, hearings } from "../actors/subscriptions.js";
import { createSealer } from "../actors/workspaces/secret-value.js";
import { type Clock, createEventLoopScheduler, createSystemClock } from "../runtime/clock.js";
import { createRuntime } from "../runtime/host.js";
import type { Runtime } from "../runtime/runtime.js";
import { openLmdbStore } from "../storage/lmdb-store.js";
import type { Store } from "../storage/store.js";
import { authenticate } from "./authenticate.js";
import type { Config } from "./config.js";
import type { ServiceLog } from "./log.js";
import { createMetrics } from "./metrics.js";
import { openTransport } from "./open-transport.js";
import { createRoutes, createSockets } from "./routes.js";
import { keptSecretsKey } from "./secrets-key.js";
import { createHandlers } from "./server.js";

export interface ServiceOptions {
  readonly config: Config;
  readonly log: ServiceLog;
  /** The system's clock unless a test drives one. */
  readonly clock?: Clock;
  /** A store already open, kept open at the end; else one in the data folder. */
  readonly store?: Store;
  /** Told when nothing can be stored any more: the process should end. */
  readonly onFatal?: (error: unknown) => void;
}

export interface Service {
  readonly baseUrl: string;
  readonly runtime: Runtime;
  /** Drains: stops accepting, finishes what is under way, flushes, closes. */
  stop(): Promise<void>;
}

/** Time requests under way are given at a stop, in milliseconds. */
const DRAIN_MS = 10_000;

/** Starts the whole service in this process. Rejects with a clear message when a part of it cannot start. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { config, log } = options;
  const randomBytes = (count: number): Uint8Array => strongBytes(count);
  const clock = options.clock ?? createSystemClock();
  const store = options.store ?? (await openLmdbStore({ folder: config.dataFolder }));
  const sealer = createSealer(config.secretsKey ?? keptSecretsKey(config.dataFolder, randomBytes), randomBytes);
  const allowList = parseAllowList(config.outboundAllow);
  const kinds = createKinds({ allowList, signsTokens: config.hookSigningKey !== null });
  const outbound = createOutbound({ allowList, keepBytes: KEPT_OUTPUT_BYTES });
  let baseUrl = config.baseUrl ?? "";
  const runtime = await createRuntime({
    store,
    catalogue: {
      actors: createActorTypes(kinds),
      hearings,
      gatings,
      effects: [
        mailEffect({
          sealer,
          smtpUrl: config.smtpUrl,
          from: `Signalbox <signalbox@${new URL(config.baseUrl ?? "http://localhost").hostname}>`,
          logMail: (line) => log.info(line),
        }),
        deliveryEffect({ reading: () => store.reading, outbound, sealer, clock, baseUrl: () => baseUrl }),
      ],
    },
    clock,
    scheduler: createEventLoopScheduler(),
    randomBytes,
    log,
    ...(options.onFatal === undefined ? {} : { onFatal: options.onFatal }),
  });
  let draining = false;
  const metrics = createMetrics(() => runtime.stats());
  const parts = {
    runtime,
    kinds,
    sealer,
    config,
    metrics,
    baseUrl: () => baseUrl,
    isReady: () => !draining,
    callerOf: (credentials: Parameters<typeof authenticate>[0]) =>
      authenticate(credentials, runtime.reading, clock, new URL(baseUrl).origin),
  };
  const transport = await openTransport(
    config.transport,
    createHandlers({
      routes: createRoutes(parts),
      sockets: createSockets(parts),
      authenticate: parts.callerOf,
      newRequestId: () => runtime.newId("req"),
      seconds: () => performance.now() / 1_000,
      served: (served) => {
        log.served(served);
        metrics.served(served);
      },
      failed: (requestId, error) => log.failed(requestId, error),
    }),
    log,
  );
  const port = await transport.listen(config.host, config.port);
  const host = config.host.includes(":") ? `[${config.host}]` : config.host;
  baseUrl = config.baseUrl ?? `http://${host}:${port}`;
  log.info(`listening on ${baseUrl}`);
  return {
    baseUrl,
    runtime,
    async stop() {
      draining = true;
      await transport.close(DRAIN_MS);
      await runtime.stop();
      await outbound.close();
      if (options.store === undefined) await store.close();
    },
  };
}
