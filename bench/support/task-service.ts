import { openBenchService } from "./bench-service.js";
import { loadProduct } from "./product.js";

/** Where to open and work on tasks. */
export interface TaskPlace {
  readonly port: number;
  readonly teamId: string;
  /** The `cookie` header of the user who opens the tasks. */
  readonly cookie: string;
  readonly poolToken: string;
}

/** Committed rows and batches, and this process's CPU time in microseconds. All count from the start of the process. */
export interface TaskUse {
  readonly micros: number;
  readonly rows: number;
  readonly batches: number;
}

/** The lease of a claim: longer than any measurement, because the runner sends no heartbeats. */
const LEASE_SECONDS = 3_600;
const PROMPT = "Read the issue, mend what it says, and show it with a test. ".repeat(34);

// Entry point of the child process. It serves the build of the checkout in `folder`, by default of its own checkout. It
// sends the parent where to open tasks, and then answers each message with its usage so far. It exits when its parent
// disconnects.
const [folder] = process.argv.slice(2);
let [rows, batches] = [0, 0];
const service = await openBenchService(
  "uws",
  { LEASE_SECONDS: String(LEASE_SECONDS) },
  {
    ...(folder === undefined ? {} : { product: await loadProduct(folder) }),
    around: (store) => ({
      reading: store.reading,
      commit: (changes, options) => {
        rows += changes.length;
        batches += 1;
        return store.commit(changes, options);
      },
      view: () => store.view(),
      backup: (to) => store.backup(to),
      close: () => store.close(),
    }),
  },
);
const { port, teamId, workspaceId, cookie, create } = service;
const pool = await create(`/api/resources/workspaces/${workspaceId}/runner-pools`, { key: "main" }, "pool");
const station = { key: "work", name: "Work", kind: "work", prompt: PROMPT, runners: { pool: "main" } };
await create(`/api/resources/teams/${teamId}/lines`, { key: "dev", name: "Dev", stations: [station] }, "line");

process.on("message", () => {
  const { user, system } = process.cpuUsage();
  const use: TaskUse = { micros: user + system, rows, batches };
  process.send?.(use);
});
process.once("disconnect", () => void service.close());
const place: TaskPlace = { port, teamId, cookie, poolToken: pool.headers.get("service-pool-token") ?? "" };
process.send?.(place);
