import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { feedSpace } from "../../storage/keys.js";
import { openLmdbStore } from "../../storage/lmdb-store.js";
import { ServiceProcess } from "./service-process.js";

const KEYS = 240;
const KILLS = 8;
const WORKERS = 16;

interface Secret {
  readonly id: string;
  readonly name: string;
}

/** Creates one secret under its key; undefined when the service went away before it answered. */
async function createSecret(
  service: ServiceProcess,
  cookie: Record<string, string>,
  workspaceId: string,
  name: string,
): Promise<string | undefined> {
  const answer = await service
    .request("POST", `/api/resources/workspaces/${workspaceId}/secrets`, {
      headers: { ...cookie, "idempotency-key": name },
      body: { name, value: `value of ${name}`, valueVersion: 1, hosts: [] },
    })
    .catch(() => undefined);
  if (answer === undefined) return undefined;
  if (answer.status !== 201)
    throw new Error(`creating ${name} answered ${answer.status} ${JSON.stringify(answer.body)}`);
  return String(answer.body?.id);
}

t.test(
  "killed with -9 again and again under load, it loses nothing acknowledged and makes nothing twice",
  async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "signalbox-kill-"));
    t.teardown(() => rm(folder, { recursive: true, force: true }));
    let service = await ServiceProcess.start(folder);
    t.teardown(() => service.end("SIGKILL"));

    const cookie = await service.signIn("ada@example.com");
    const workspace = await service.request("POST", "/api/resources/workspaces", {
      headers: { ...cookie, "idempotency-key": "workspace" },
      body: { slug: "acme", name: "Acme" },
    });
    t.equal(workspace.status, 201);
    const workspaceId = String(workspace.body?.id);

    const acknowledged = new Map<string, string>();
    const open = Array.from({ length: KEYS }, (_, index) => `key-${index}`);
    let kills = 0;
    while (open.length > 0) {
      const killAfter = kills < KILLS ? acknowledged.size + Math.floor(KEYS / (KILLS + 2)) - (kills % 5) : Infinity;
      const worker = async () => {
        for (;;) {
          const name = open.shift();
          if (name === undefined) return;
          const id = await createSecret(service, cookie, workspaceId, name);
          if (id === undefined) {
            open.push(name);
            return;
          }
          if (acknowledged.get(name) !== undefined) t.equal(id, acknowledged.get(name));
          acknowledged.set(name, id);
          // Every fifth key is asked for again although it was answered, as a client does that lost the answer.
          if (acknowledged.size % 5 === 0) {
            const again = await createSecret(service, cookie, workspaceId, name);
            if (again !== undefined) t.equal(again, id, "the same key gives the same resource");
          }
          if (acknowledged.size >= killAfter) void service.end("SIGKILL");
        }
      };
      await Promise.all(Array.from({ length: WORKERS }, worker));
      if (open.length > 0 || acknowledged.size >= killAfter) {
        await service.end("SIGKILL");
        kills += 1;
        service = await ServiceProcess.start(folder);
      }
    }
    t.equal(kills, KILLS);

    const list = await service.request("GET", `/api/resources/workspaces/${workspaceId}/secrets`, { headers: cookie });
    const items = (list.body?.items ?? []) as Secret[];
    t.equal(items.length, KEYS, "as many resources as keys");
    t.same(
      new Map(items.map((secret) => [secret.name, secret.id])),
      acknowledged,
      "every acknowledged resource is there, under the id that was answered",
    );
    t.equal(await service.end("SIGTERM"), 0);

    const store = await openLmdbStore({ folder });
    t.teardown(() => store.close());
    const sequences = store.reading.range({ prefix: [workspaceId, feedSpace] }).map((entry) => Number(entry.key[2]));
    t.ok(sequences.length >= KEYS);
    t.same(
      sequences,
      sequences.map((_, index) => (sequences[0] ?? 0) + index),
      "the change sequence has no gap",
    );
  },
);
