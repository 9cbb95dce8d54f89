import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "../../http/client/entry.js";
import { readConfig } from "../../http/process/config.js";
import { createLog } from "../../http/process/log.js";
import { type Service, startService } from "../../http/process/service.js";
import { openLmdbStore } from "../../storage/lmdb-store.js";
import type { Store } from "../../storage/store.js";

/** No rate limits, because the load comes from one address with one credential. */
const unlimited = { RATE_PER_CREDENTIAL: "0", RATE_PER_ADDRESS: "0" };

const own: Product = { readConfig, createLog, startService, openLmdbStore };

/** The product's modules that make up the service. */
export interface Product {
  readonly readConfig: typeof readConfig;
  readonly createLog: typeof createLog;
  readonly startService: typeof startService;
  readonly openLmdbStore: typeof openLmdbStore;
}

interface BenchServiceOptions {
  /** This checkout's modules by default; pass another checkout's modules to measure that one. */
  readonly product?: Product;
  /** Wraps the service's store, to observe it. */
  readonly around?: (store: Store) => Store;
  /** Folder of the store, which is not removed. By default a temporary folder, which is removed. */
  readonly folder?: string;
}

interface Created {
  readonly id: string;
  readonly text: string;
  readonly headers: Headers;
}

/** A service with one workspace and its owner. */
export interface BenchService {
  readonly runtime: Service["runtime"];
  readonly port: number;
  /** Folder of the service's store. */
  readonly folder: string;
  readonly workspaceId: string;
  readonly teamId: string;
  /** The `authorization` header of a token of the workspace. */
  readonly bearer: string;
  /** The `cookie` header of the workspace's owner. */
  readonly cookie: string;
  /** Creates a resource as the owner; throws on failure. */
  create(path: string, body: unknown, key: string): Promise<Created>;
  /** Posts as the owner; throws if the answer has another status. */
  post(path: string, body: unknown, status: number): Promise<void>;
  get(path: string): Promise<string>;
  /** Reads as the owner and returns the body as a stream; throws on failure. */
  body(path: string): Promise<AsyncIterable<Uint8Array>>;
  close(): Promise<void>;
}

export async function openBenchService(
  transport: "uws" | "node",
  settings: Readonly<Record<string, string>> = {},
  { product = own, around = (store) => store, folder: given }: BenchServiceOptions = {},
): Promise<BenchService> {
  const folder = given ?? (await mkdtemp(join(tmpdir(), "signalbox-bench-")));
  const mails: string[] = [];
  const fixed = { DATA_DIR: folder, PORT: "0", TRANSPORT: transport, LOG_LEVEL: "silent" };
  const config = product.readConfig({ ...fixed, ...unlimited, ...settings });
  const log = { ...product.createLog("silent"), mail: (line: string) => void mails.push(line) };
  const store = await product.openLmdbStore({ folder });
  const service = await product.startService({ config, log, store: around(store) });
  const { baseUrl } = service;
  const anonymous = createClient({ baseUrl });
  await anonymous.post("/api/sign-in", { body: { email: "ada@example.com" } });
  while (mails.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const token = mails[0]?.split("/").at(-1) ?? "";
  const opened = await anonymous.send("post", "/api/sessions", { body: { token } });
  const cookie = opened.headers.get("set-cookie")?.split(";")[0] ?? "";
  const client = createClient({ baseUrl, cookie });
  const create = async (path: string, body: unknown, idempotencyKey: string): Promise<Created> => {
    const { text, headers } = await client.send("post", path, { body, idempotencyKey });
    return { text, headers, id: String((JSON.parse(text) as { readonly id: string }).id) };
  };
  const workspace = await create("/api/resources/workspaces", { slug: "acme", name: "Acme" }, "w");
  const within = `/api/resources/workspaces/${workspace.id}`;
  const team = await create(`${within}/teams`, { key: "core", name: "Core" }, "t");
  const scopes = ["configure", "secrets", "runners", "trusts"];
  const apiToken = await create(`${within}/tokens`, { name: "bench", scopes }, "k");
  return {
    port: service.port,
    runtime: service.runtime,
    folder,
    workspaceId: workspace.id,
    teamId: team.id,
    bearer: `Bearer ${apiToken.headers.get("service-workspace-token")}`,
    cookie,
    create,
    post: async (path, body, status) => {
      const answer = await client.send("post", path, body === undefined ? {} : { body });
      if (answer.status !== status) throw new Error(`POST ${path} answered ${answer.status} ${answer.text}`);
    },
    get: async (path) => (await client.send("get", path)).text,
    body: async (path) => {
      const answer = await fetch(`${service.baseUrl}${path}`, { headers: { cookie } });
      if (answer.status !== 200 || answer.body === null) throw new Error(`GET ${path} answered ${answer.status}`);
      return answer.body;
    },
    close: async () => {
      await service.stop();
      await store.close();
      if (given === undefined) await rm(folder, { recursive: true });
    },
  };
}
