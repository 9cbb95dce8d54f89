import { findTokenCaller } from "../../actors/access/tokens/workspace-token.queries.js";
import type { Caller } from "../../actors/caller.js";
import { isRefusal, type Refusal } from "../../actors/refusal.js";
import type { WriteResult } from "../../actors/resources/resource.messages.js";
import { sha256Hex } from "../../actors/sealer.js";
import { workspaceRef } from "../../actors/workspaces/workspace.messages.js";
import type { Change, Store } from "../../storage/store.js";
import { type BenchService, openBenchService } from "./bench-service.js";
import { type CreatingOrder, type Opened, secretNamed, type Used } from "./creating.js";
import { loadProduct } from "./product.js";

/** Rows and batches written since the last call of {@link use}, and the changes of the last batch. */
const written = { batches: 0, rows: 0, last: [] as readonly Change[] };
let service: BenchService | null = null;
let since = process.cpuUsage();
let asked = 0;

/** Wraps a store to count commits. */
function counting(store: Store): Store {
  return {
    reading: store.reading,
    commit: (changes, options) => {
      written.batches += 1;
      written.rows += changes.length;
      written.last = changes;
      return store.commit(changes, options);
    },
    view: () => store.view(),
    backup: (folder) => store.backup(folder),
    close: () => store.close(),
  };
}

async function open(product: string | null): Promise<Opened> {
  const of = product === null ? {} : { product: await loadProduct(product) };
  service = await openBenchService("uws", {}, { ...of, around: counting });
  const { port, bearer, workspaceId } = service;
  return { port, bearer, path: `/api/resources/workspaces/${workspaceId}/secrets` };
}

/** Returns the usage since the last call; `creates` counts only the creates of {@link ask}. */
function use(creates: number): Used {
  const { user, system } = process.cpuUsage(since);
  const used: Used = { micros: user + system, creates, batches: written.batches, rows: written.rows };
  since = process.cpuUsage();
  Object.assign(written, { batches: 0, rows: 0 });
  return used;
}

/** Sends the workspace the same message as the HTTP layer to create a secret. The value is already sealed. */
async function create(
  { runtime, workspaceId }: BenchService,
  caller: Caller & { readonly kind: "token" },
): Promise<void> {
  const name = `asked-${asked++}`;
  const parts = ["n".repeat(16), "t".repeat(22), "c".repeat(22)];
  const made = (await runtime.ask(workspaceRef(workspaceId), {
    type: "resource.create",
    kind: "secret",
    caller,
    client: null,
    teamId: null,
    reserved: undefined,
    fields: { name, valueVersion: 1, hosts: [] },
    hidden: { value: `v1.${parts.join(".")}` },
    idempotency: { scope: `${caller.tokenId} secret `, key: name, digest: "d".repeat(64) },
  })) as WriteResult | Refusal;
  if (isRefusal(made)) throw new Error(`a create was refused: ${made.refused}`);
}

async function ask(durationMs: number, inFlight: number): Promise<Used> {
  const of = opened();
  const caller = findTokenCaller(of.runtime.reading, sha256Hex(of.bearer.slice("Bearer ".length)), Date.now());
  if (caller?.kind !== "token") throw new Error("the token is nobody's");
  let creates = 0;
  const endMs = performance.now() + durationMs;
  const client = async (): Promise<void> => {
    for (; performance.now() < endMs; creates++) await create(of, caller);
  };
  use(0);
  await Promise.all(Array.from({ length: inFlight }, client));
  return use(creates);
}

async function show(): Promise<readonly Change[]> {
  const of = opened();
  const shown = `shown-${asked++}`;
  await of.create(`/api/resources/workspaces/${of.workspaceId}/secrets`, secretNamed(shown), shown);
  return written.last;
}

function opened(): BenchService {
  if (service === null) throw new Error("no service is open");
  return service;
}

function obey(order: CreatingOrder): unknown {
  switch (order.do) {
    case "open":
      return open(order.product);
    case "use":
      return use(0);
    case "ask":
      return ask(order.durationMs, order.inFlight);
    case "show":
      return show();
    case "close":
      return service?.close().then(() => null) ?? null;
  }
}

// Entry point of the child process, whose CPU time is measured.
process.on("message", async (order: CreatingOrder) => {
  process.send?.(await obey(order));
  if (order.do === "close") process.disconnect();
});
