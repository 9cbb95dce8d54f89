import { fork } from "node:child_process";
import { once } from "node:events";
import { type BenchService, openBenchService } from "../support/bench-service.js";
import { loadProduct } from "../support/product.js";
import { type CountingStore, countRows, type RowCount, without } from "./counting-store.js";
import { connectRunner } from "./instant-runner.js";

/** The rows that an action wrote, over all its batches. */
export interface Written {
  readonly action: string;
  readonly count: RowCount;
}

/** An action is complete when the service made no commit for this time, in milliseconds. */
const QUIET_MS = 300;

/** Starts the service built in a checkout, and counts the rows that each action writes, one action after another. */
export async function rowsWritten(folder: string): Promise<readonly Written[]> {
  const product = await loadProduct(folder);
  const receiver = fork(new URL("../support/receiver.js", import.meta.url));
  const [port] = (await once(receiver, "message")) as [number];
  const url = `http://127.0.0.1:${port}`;
  let counting: CountingStore | null = null;
  const around: NonNullable<Parameters<typeof openBenchService>[2]>["around"] = (store) => {
    counting = countRows(store);
    return counting.store;
  };
  const service = await openBenchService("node", { OUTBOUND_ALLOW: url }, { product, around });
  try {
    if (counting === null) throw new Error("the service was given no store");
    return await runActions(service, counting, url);
  } finally {
    await service.close();
    receiver.disconnect();
  }
}

async function runActions(service: BenchService, counting: CountingStore, url: string): Promise<readonly Written[]> {
  const { workspaceId, teamId } = service;
  const within = `/api/resources/workspaces/${workspaceId}`;
  const of = `/api/resources/teams/${teamId}`;
  const pool = await service.create(`${within}/runner-pools`, { key: "main" }, "pool");
  const stations = [{ key: "work", name: "Work", kind: "work", runners: { pool: "main" } }];
  await service.create(`${of}/lines`, { key: "dev", name: "Dev", stations }, "line");
  const runner = await connectRunner(service.port, String(pool.headers.get("service-pool-token")));
  const written: Written[] = [];
  const count = async (action: string, act: () => unknown): Promise<RowCount> => {
    await quiet(counting);
    counting.take();
    await act();
    await quiet(counting);
    const count = counting.take();
    written.push({ action: action, count });
    return count;
  };
  const openTask = (key: string) => service.create(`/api/teams/${teamId}/tasks`, { title: "Do it", line: "dev" }, key);
  const secret = { name: "key", value: "0123456789abcdef", valueVersion: 1 };
  await count("a secret created", () => service.create(`${within}/secrets`, secret, "secret"));
  const opened = await count("a task opened without hooks, until its run is queued", () => openTask("first"));
  await count("that run from its claim to its end, the runner's offer of a place included", () => runner.offer(1));
  runner.offer(0);
  const steps = [{ name: "tell", request: { url } }];
  const signing = { secret: `whsec_${Buffer.alloc(32, 7).toString("base64")}`, secretVersion: 1 };
  const hook = { key: "tell", on: "task.opened", steps, signing };
  await count("a hook created", () => service.create(`${of}/hooks`, hook, "hook"));
  const withHook = await count("a task opened with a hook on it, until both are done", () => openTask("second"));
  written.push({
    action: "a hook delivered: what the one task wrote more than the other",
    count: without(withHook, opened),
  });
  runner.close();
  return written;
}

/** Resolves once there was no commit for {@link QUIET_MS}. */
async function quiet({ state }: CountingStore): Promise<void> {
  for (let begun = -1; begun !== state.begun || state.underWay > 0; ) {
    begun = state.begun;
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
  }
}
