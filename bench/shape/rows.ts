import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Office, openOffice, type Product } from "../support/office.js";
import { type CountingStore, countRows, type RowCount, without } from "./counting-store.js";
import { connectRunner } from "./instant-runner.js";

/** What a deed wrote, all batches together. */
export interface Written {
  readonly deed: string;
  readonly count: RowCount;
}

/** How long nothing must have been committed for a deed to be over, in milliseconds. */
const QUIET_MS = 300;

/** Where a module stands in one commit or another. */
const places: Readonly<Record<keyof Product, readonly string[]>> = {
  readConfig: ["http/config.js", "http/process/config.js"],
  createLog: ["http/log.js", "http/process/log.js"],
  startService: ["http/service.js", "http/process/service.js"],
  openLmdbStore: ["storage/lmdb-store.js"],
};

/** Starts the service that was built in a checkout and counts the rows that each deed writes, one after the other. */
export async function rowsWritten(folder: string): Promise<readonly Written[]> {
  const product = await loadProduct(folder);
  const receiver = fork(new URL("../support/receiver.js", import.meta.url));
  const [port] = (await once(receiver, "message")) as [number];
  const url = `http://127.0.0.1:${port}`;
  let counting: CountingStore | null = null;
  const around: NonNullable<Parameters<typeof openOffice>[2]>["around"] = (store) => {
    counting = countRows(store);
    return counting.store;
  };
  const office = await openOffice("node", { OUTBOUND_ALLOW: url }, { product, around });
  try {
    if (counting === null) throw new Error("the service was given no store");
    return await deeds(office, counting, url);
  } finally {
    await office.close();
    receiver.disconnect();
  }
}

async function loadProduct(folder: string): Promise<Product> {
  const load = async <Name extends keyof Product>(name: Name): Promise<Product[Name]> => {
    const path = places[name].map((place) => join(folder, "dist", place)).find((place) => existsSync(place));
    if (path === undefined) throw new Error(`${folder} has none of ${places[name].join(", ")} built: build it first`);
    const module: Product = await import(pathToFileURL(path).href);
    return module[name];
  };
  return {
    readConfig: await load("readConfig"),
    createLog: await load("createLog"),
    startService: await load("startService"),
    openLmdbStore: await load("openLmdbStore"),
  };
}

async function deeds(office: Office, counting: CountingStore, url: string): Promise<readonly Written[]> {
  const { workspaceId, teamId } = office;
  const within = `/api/resources/workspaces/${workspaceId}`;
  const of = `/api/resources/teams/${teamId}`;
  const pool = await office.create(`${within}/runner-pools`, { key: "main" }, "pool");
  const stations = [{ key: "work", name: "Work", kind: "work", runners: { pool: "main" } }];
  await office.create(`${of}/lines`, { key: "dev", name: "Dev", stations }, "line");
  const runner = await connectRunner(office.port, String(pool.headers.get("service-pool-token")));
  const written: Written[] = [];
  const count = async (deed: string, act: () => unknown): Promise<RowCount> => {
    await quiet(counting);
    counting.take();
    await act();
    await quiet(counting);
    const count = counting.take();
    written.push({ deed, count });
    return count;
  };
  const openTask = (key: string) => office.create(`/api/teams/${teamId}/tasks`, { title: "Do it", line: "dev" }, key);
  const secret = { name: "key", value: "0123456789abcdef", valueVersion: 1 };
  await count("a secret created", () => office.create(`${within}/secrets`, secret, "secret"));
  const opened = await count("a task opened without hooks, until its run is queued", () => openTask("first"));
  await count("that run from its claim to its end, the runner's offer of a place included", () => runner.offer(1));
  runner.offer(0);
  const steps = [{ name: "tell", request: { url } }];
  const signing = { secret: `whsec_${Buffer.alloc(32, 7).toString("base64")}`, secretVersion: 1 };
  const hook = { key: "tell", on: "task.opened", steps, signing };
  await count("a hook created", () => office.create(`${of}/hooks`, hook, "hook"));
  const withHook = await count("a task opened with a hook on it, until both are done", () => openTask("second"));
  written.push({
    deed: "a hook delivered: what the one task wrote more than the other",
    count: without(withHook, opened),
  });
  runner.close();
  return written;
}

/** Resolves once nothing was committed for a while. */
async function quiet({ state }: CountingStore): Promise<void> {
  for (let begun = -1; begun !== state.begun || state.underWay > 0; ) {
    begun = state.begun;
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
  }
}
