import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { createSystemClock } from "../../../runtime/clock.js";
import { createClient } from "../../client/entry.js";
import { createLog } from "../../process/log.js";
import { type Service, startService } from "../../process/service.js";
import { toSite } from "../../process/service-parts.js";
import { poolToken } from "../../runner/connection/credential.js";
import { type Runner, startRunner } from "../../runner/runner.js";
import type { ServiceLog } from "../../wire/service-log.js";
import type { Terminal } from "../command/terminal.js";
import type { Agent } from "./agent.js";
import { type Checkout, toRepositoryName } from "./checkout.js";
import { type DevPlaces, type DevState, linkRepository, readState, saveState } from "./dev-folder.js";
import { admitLocalHosts, choosePort, type DevSettings } from "./dev-settings.js";
import { makeFirstObjects } from "./first-objects.js";
import { openLogFile } from "./log-file.js";
import { signIn, signOut, toLocalEmail } from "./sign-in.js";

/** The number of runs at the same time. By default, replays use at most half of these slots. */
const SLOTS = 2;

export interface StartOptions {
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  readonly checkout: Checkout;
  readonly places: DevPlaces;
  readonly settings: DevSettings;
  readonly agent: Agent;
  /** The keys of the line's stations, used only if the line is created. */
  readonly stations: readonly string[];
  /** The names of the environment variables to pass to the agents. */
  readonly passEnv: readonly string[];
  /** The service's port at the last start, which a reset does not clear; null if there is none. */
  readonly lastPort: number | null;
}

/** The service and the runner while they run. */
export interface Running {
  readonly service: Service;
  readonly runner: Runner;
  /** The address for programs on this machine. */
  readonly url: string;
  /** A link that signs the person in once. */
  readonly link: string;
  /** The keys of the stations of the line `main`; null if there are only other lines. */
  readonly stations: readonly string[] | null;
  /** Rejects when the store has failed. */
  readonly failed: Promise<never>;
}

/**
 * Starts the service and the runner, and creates the first objects, such as a line. If the start fails, stops the
 * service.
 */
export async function start(options: StartOptions): Promise<Running> {
  const { agent, checkout, places, settings, signal } = options;
  mkdirSync(places.folder, { recursive: true, mode: 0o700 });
  const before = readState(places);
  const state: DevState = before ?? {
    email: toLocalEmail(checkout),
    repository: toRepositoryName(checkout.top),
    poolToken: randomBytes(32).toString("base64url"),
    port: null,
  };
  const config = { ...settings.config, port: await choosePort(settings, options.lastPort) };
  const log = createLog(config.logLevel, openLogFile(places.log));
  const failure = createFailure();
  const admitsHost = admitLocalHosts(config);
  const announced = () => settings.source.warnOfUnknown(log);
  let service = await startService({ config, log, admitsHost, ending: signal, announced, onFatal: failure.reject });
  try {
    saveState(places, { ...state, port: service.port, agent: agent.isExample ? state.agent : [...agent.command] });
    const url = toSite({ ...config, baseUrl: null }, service.port).baseUrl;
    const cookie = await signIn({ service, url, places, checkout, email: state.email, signal });
    service = signingOut(service, () => signOut({ url, places }, cookie));
    const stations = await makeFirstObjects(createClient({ baseUrl: url, cookie, signal }), {
      repository: state.repository,
      poolToken: state.poolToken,
      stations: options.stations,
    });
    const link = await service.signInLink(state.email);
    // Start the runner last: if a step after it failed, nothing would stop the runner.
    const runner = await openRunner(options, { url, state, log });
    return { service, runner, url, link, stations, failed: failure.promise };
  } catch (error) {
    await service.stop();
    throw error;
  }
}

/** Returns a service whose `stop` first ends the session of the commands in this folder. */
function signingOut(service: Service, end: () => Promise<void>): Service {
  let stopped: Promise<void> | null = null;
  return {
    ...service,
    stop: () => {
      stopped ??= end().finally(() => service.stop());
      return stopped;
    },
  };
}

function openRunner(
  { places, checkout, agent, passEnv }: StartOptions,
  { url, state, log }: { readonly url: string; readonly state: DevState; readonly log: ServiceLog },
): Promise<Runner> {
  return startRunner({
    url,
    credential: poolToken(state.poolToken),
    name: "dev",
    labels: [],
    slots: SLOTS,
    workFolder: places.runner,
    gitUrl: linkRepository(places, state.repository, checkout.top),
    command: agent.command,
    passEnv,
    clock: createSystemClock(),
    random: Math.random,
    instance: randomBytes(16).toString("hex"),
    log: (line) => log.info(`runner: ${line}`),
  });
}

/**
 * Creates a promise that only rejects. The promise may reject before anybody awaits it, without an unhandled rejection.
 */
function createFailure(): { readonly promise: Promise<never>; readonly reject: (error: unknown) => void } {
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<never>((_resolve, given) => {
    reject = given;
  });
  promise.catch(() => undefined);
  return { promise, reject: (error) => reject(error) };
}
