import { randomBytes } from "node:crypto";
import t from "tap";
import { toArchiveId } from "../../../actors/archives/archive.js";
import { archiveActor } from "../../../actors/archives/archive.machine.js";
import { archiveRef } from "../../../actors/archives/archive.messages.js";
import { archiveChunks, archives, archiveUsage, TOTAL_BYTES } from "../../../actors/archives/archive.table.js";
import { checkArchives } from "../../../actors/archives/check-archives.js";
import { CHUNK_BYTES } from "../../../actors/archives/pack.js";
import type { Message } from "../../../runtime/turns/turn.js";
import { Harness, partition } from "../../support/harness.js";
import { listChunks, makeCommit, toPack } from "./archive-scene.js";

const repository = "acme/app";
const made = makeCommit({ "a.bin": randomBytes(2 * CHUNK_BYTES) });
const { commit } = made;
const id = toArchiveId(repository, commit);
const SILENT_MS = 16 * 60_000;
const MAX_ROUNDS = 20;

type Answer = { readonly received?: number; readonly refused?: string } | undefined;

/**
 * A simulated service whose process is killed at a commit and then started again. Each process serves its own runner.
 */
class KilledWorld {
  readonly harness = new Harness({ catalogue: { actors: [archiveActor({ bytesPerWorkspace: 100 * CHUNK_BYTES })] } });
  #runners = 1;

  static async open(kill: { readonly after: number; readonly when: "before" | "after" } | null): Promise<KilledWorld> {
    const world = new KilledWorld();
    await world.harness.start();
    if (kill !== null) world.harness.killAt = { commit: kill.after, when: kill.when };
    return world;
  }

  ask(message: Message & Readonly<Record<string, unknown>>): Promise<Answer> {
    return this.harness.ask(archiveRef(partition, id), message) as Promise<Answer>;
  }

  /**
   * Repeats `act` until `isSo` returns true. If the process is killed during `act`, starts a new process first and then
   * continues.
   */
  async until(isSo: () => boolean, act: () => Promise<unknown>): Promise<void> {
    const { harness } = this;
    for (let round = 0; !isSo(); round++) {
      if (round === MAX_ROUNDS) throw new Error("it never ends");
      try {
        await act();
      } catch (error) {
        if (harness.killAt === null) throw error;
        harness.killAt = null;
        harness.crash();
        await harness.start();
        // The runner reconnects under another id; the previous id stays silent.
        this.#runners += 1;
        await harness.advance(SILENT_MS);
      }
    }
  }

  /** Sends a pack as a runner does. Starts with the first chunk that the archive has not received. */
  async send(bytes: Buffer): Promise<void> {
    const by = { runnerId: `r${this.#runners}` };
    if ((await this.ask({ type: "archive.take", ...by }))?.refused !== undefined) return;
    const offered = await this.ask({ type: "archive.offer", ...by, pack: toPack(bytes) });
    const chunks = listChunks(bytes);
    for (let n = offered?.received ?? chunks.length; n < chunks.length; n++) {
      await this.ask({ type: "archive.chunk", ...by, n, chunk: chunks[n] ?? Buffer.alloc(0) });
    }
  }

  get row() {
    return archives.get(this.harness.durable, partition, id);
  }

  get stored(): Buffer {
    return Buffer.concat(archiveChunks.list(this.harness.durable, partition, [id]));
  }

  complaints(): readonly string[] {
    return [...checkArchives(this.harness.durable)].map(({ what }) => what);
  }
}

const hold = (holder: string) => ({ type: "archive.hold", holder, repository, commit });
const release = (holder: string) => ({ type: "archive.release", holder });

async function scenario(world: KilledWorld): Promise<readonly string[]> {
  const found: string[] = [];
  await world.until(
    () => world.row !== undefined,
    () => world.ask(hold("set_1")),
  );
  await world.until(
    () => world.row?.standing === "kept",
    () => world.send(made.bytes),
  );
  if (!world.stored.equals(made.bytes)) found.push("the pack is another");
  if (archiveUsage.get(world.harness.durable, partition, TOTAL_BYTES) !== made.bytes.length)
    found.push("its room is wrong");
  found.push(...world.complaints());
  await world.until(
    () => world.row === undefined,
    () => world.ask(release("set_1")),
  );
  const left = world.harness.durable.range({ prefix: [partition, "row"] });
  if (left.length > 0) found.push(`${left.length} rows are left`);
  return [...found, ...world.complaints()];
}

t.test("killed at any border of a commit, a pack is kept whole and once, and goes without a trace", async (t) => {
  const calm = await KilledWorld.open(null);
  t.same(await scenario(calm), []);
  const commits = calm.harness.batches.length;
  const complaints: string[] = [];
  for (let after = 1; after <= commits; after++) {
    for (const when of ["before", "after"] as const) {
      const found = await scenario(await KilledWorld.open({ after, when }));
      complaints.push(...found.map((each) => `killed ${when} commit ${after}: ${each}`));
    }
  }
  t.same(complaints, [], `${commits} commits`);
  t.equal(commits, 7, "held, taken, offered, three chunks, let go of");
});
