import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { request as httpRequest, Pool } from "undici";
import WebSocket from "ws";
import { readConfig } from "../../http/process/config.js";
import { createLog } from "../../http/process/log.js";
import { startService } from "../../http/process/service.js";
import type { Clock } from "../../runtime/clock.js";
import type { Runtime } from "../../runtime/runtime.js";
import { openLmdbStore } from "../../storage/lmdb-store.js";
import type { Store } from "../../storage/store.js";
import { differenceFrom } from "./declared.js";

/** The answer to a request. */
export interface Reply {
  readonly status: number;
  /** The headers by lower-case name. Values of several headers with the same name are joined by ", ". */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The parsed JSON body; null if it is missing or not an object. */
  readonly body: Readonly<Record<string, unknown>> | null;
}

/** A client of the service: a signed-in person, a token's bearer, or an anonymous client. */
export interface Client {
  /** The headers with the credential. */
  readonly credentials: Readonly<Record<string, string>>;
  /** Sends a request; a body other than text or bytes is sent as JSON. */
  request(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
  /** Creates a resource with a new idempotency key and returns it; throws on failure. */
  create(path: string, body: unknown): Promise<Readonly<Record<string, unknown>> & { readonly id: string }>;
  /** Opens a WebSocket with the same credential. */
  socket(path: string, headers?: Record<string, string>): WebSocket;
}

/** A real service on a free port of the loopback interface, with a store in its own folder. */
export interface TestService {
  readonly baseUrl: string;
  readonly port: number;
  readonly runtime: Runtime;
  readonly folder: string;
  /** The service's log, line by line. */
  readonly logLines: readonly string[];
  /** Resolves with the first matching log line. */
  logged(pattern: RegExp): Promise<RegExpExecArray>;
  /** Requests a sign-in link, and reads its token from the log. */
  linkFor(email: string): Promise<string>;
  signIn(email: string): Promise<Client>;
  /** Returns a client with a token. */
  withToken(token: string): Client;
  /** Returns a client with a session cookie. */
  withSession(token: string): Client;
  readonly anonymous: Client;
  /** Changes `OUTBOUND_ALLOW` while the service runs. */
  allow(outboundAllow: string): void;
  /** Stops the service. The test's end removes the folder. */
  stop(): Promise<void>;
}

export interface TestServiceOptions {
  /** Additional environment settings. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
  /** The store to use; the service does not close it. By default, the service opens a store in the folder. */
  readonly store?: Store;
  /** Whether to use the store without changing it; the folder must hold a store. */
  readonly isReadOnly?: boolean;
  /** A folder that outlives the service; the test removes it. */
  readonly folder?: string;
}

/**
 * No limit on failures, because tests send hundreds of wrong credentials from one address. Tests of limits set their
 * own limit.
 */
const testSettings = { PORT: "0", LOG_LEVEL: "debug", RATE_OF_FAILURES: "0" };

/** The part of a test that registers its cleanup. */
export interface Cleaning {
  teardown(clean: () => Promise<unknown>): void;
}

/**
 * Starts the service for one test. At the end of the test, stops the service and removes its folder.
 *
 * Compares every outcome of a route with the route's declaration. After the first difference, the client's request
 * throws, or the test fails at its end.
 */
export async function startTestService(t: Cleaning, options: TestServiceOptions = {}): Promise<TestService> {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), "signalbox-test-")));
  // Open the store without a file lock, which would start a `flock` process for each test. No other container can see
  // the folder, so no lock is needed.
  const ownStore =
    options.store !== undefined || options.folder !== undefined
      ? null
      : await openLmdbStore({ folder, locksFile: false });
  const store = options.store ?? ownStore;
  const config = readConfig({ ...testSettings, DATA_DIR: folder, ...options.settings });
  const lines = new LogLines();
  const differences: string[] = [];
  const checkDeclared = (): void => {
    const [first] = differences.splice(0);
    if (first !== undefined) throw new Error(first);
  };
  const service = await startService({
    config,
    log: createLog(config.logLevel, lines),
    answered: (route, outcome) => void differences.push(...[differenceFrom(route, outcome) ?? []].flat()),
    ...(options.clock === undefined ? {} : { clock: options.clock }),
    ...(store === null ? {} : { store }),
    ...(options.isReadOnly === undefined ? {} : { isReadOnly: options.isReadOnly }),
  }).catch(async (error: unknown) => {
    await ownStore?.close();
    throw error;
  });
  const address = `http://127.0.0.1:${service.port}`;
  // A rejected request closes its connection. A pool opens a new connection, whereas an agent would create a new pool.
  const pool = new Pool(address, { connections: 16, pipelining: 1 });
  const toClient = (credentials: Readonly<Record<string, string>>) =>
    createClient({ address, pool, credentials, checkDeclared });
  const anonymous = toClient({});
  let stopped: Promise<unknown> | null = null;
  const stop = async (): Promise<void> => {
    stopped ??= service.stop().then(() => Promise.all([ownStore?.close(), pool.destroy()]));
    await stopped;
  };
  t.teardown(async () => {
    await stop();
    if (options.folder === undefined) await rm(folder, { recursive: true, force: true });
    checkDeclared();
  });
  const linkFor = async (email: string): Promise<string> => {
    const from = lines.all.length;
    const asked = await anonymous.request("POST", "/api/sign-in", { email });
    if (asked.status !== 202) throw new Error(`asking for a link answered ${asked.status} ${asked.text}`);
    const found = await lines.next(new RegExp(`sign-in link for ${escaped(email)}: \\S+/sign-in/([\\w-]+)`, "i"), from);
    return found[1] ?? "";
  };
  return {
    baseUrl: service.baseUrl,
    port: service.port,
    runtime: service.runtime,
    folder,
    logLines: lines.all,
    logged: (pattern) => lines.next(pattern, 0),
    linkFor,
    signIn: async (email) => {
      const opened = await anonymous.request("POST", "/api/sessions", { token: await linkFor(email) });
      const cookie = opened.headers["set-cookie"]?.split(";")[0];
      if (opened.status !== 204 || cookie === undefined) throw new Error(`signing in answered ${opened.status}`);
      return toClient({ cookie });
    },
    withSession: (token) => toClient({ cookie: `session=${token}` }),
    withToken: (token) => toClient({ authorization: `Bearer ${token}` }),
    anonymous,
    allow: (outboundAllow) => service.allow(outboundAllow),
    stop,
  };
}

/** Records the log lines, and resolves the promises that wait for a matching line. */
class LogLines {
  readonly all: string[] = [];
  readonly #waiting = new Set<() => void>();

  write(text: string): void {
    this.all.push(text.trimEnd());
    for (const look of [...this.#waiting]) look();
  }

  next(pattern: RegExp, from: number): Promise<RegExpExecArray> {
    return new Promise((resolve) => {
      let at = from;
      const look = () => {
        for (; at < this.all.length; at++) {
          const found = pattern.exec(this.all[at] ?? "");
          if (found === null) continue;
          this.#waiting.delete(look);
          return resolve(found);
        }
      };
      this.#waiting.add(look);
      look();
    });
  }
}

let keys = 0;

export interface ClientParts {
  readonly address: string;
  readonly pool: Pool;
  readonly credentials: Readonly<Record<string, string>>;
  /** Throws if an outcome differed from its declaration. */
  readonly checkDeclared: () => void;
  /** The certificate to trust for an https address. */
  readonly certificate?: string;
}

/** Returns a client for a service at any address, such as a proxy's. */
export function createClient({ address, pool, credentials, checkDeclared, certificate }: ClientParts): Client {
  const request: Client["request"] = async (method, path, body, headers = {}) => {
    const isWhole = body === undefined || typeof body === "string" || body instanceof Uint8Array;
    const sent = isWhole ? body : JSON.stringify(body);
    const answer = await httpRequest(`${address}${path}`, {
      method: method as "GET",
      dispatcher: pool,
      headers: { ...credentials, ...(sent === undefined ? {} : { "content-type": "application/json" }), ...headers },
      ...(sent === undefined ? {} : { body: sent }),
    });
    const text = await answer.body.text();
    checkDeclared();
    return { status: answer.statusCode, headers: joined(answer.headers), text, body: parsed(text) };
  };
  return {
    credentials,
    request,
    create: async (path, body) => {
      keys += 1;
      const made = await request("POST", path, body, { "idempotency-key": `test-${process.pid}-${keys}` });
      if (made.status !== 201) throw new Error(`POST ${path} answered ${made.status} ${made.text}`);
      return { ...made.body, id: String(made.body?.id) };
    },
    socket: (path, headers = {}) =>
      new WebSocket(`${address.replace(/^http/, "ws")}${path}`, {
        headers: { ...credentials, ...headers },
        ca: certificate,
      }),
  };
}

function joined(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value ?? ""].flat().join(", ")]));
}

function parsed(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : null;
  } catch {
    return null;
  }
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
