import { openLmdbStore } from "../../storage/lmdb-store.js";

/**
 * Writes batches into a store until this process is killed. Each batch has one marker and five rows. Prints the number
 * of each durable batch.
 */
const [folder = "", size = "small", rights = "own"] = process.argv.slice(2);
/** The user `nobody`, who can only write where everyone can. */
const NOBODY = 65_534;
if (rights === "unprivileged" && process.getuid?.() === 0) {
  process.setgid?.(NOBODY);
  process.setuid?.(NOBODY);
}
const filling = "x".repeat(size === "big" ? 8_000 : 50);

try {
  const store = await openLmdbStore({ folder });
  const write = (batch: number) =>
    store.commit([
      { op: "put", key: ["batch", batch], value: batch },
      ...[0, 1, 2, 3, 4].map((n) => ({ op: "put" as const, key: ["row", batch, n], value: filling })),
    ]);
  try {
    for (let batch = store.reading.range({ prefix: ["batch"] }).length; ; batch++) {
      await write(batch);
      console.log(batch);
    }
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    await write(0).catch((again: unknown) =>
      console.error(`and again: ${again instanceof Error ? again.message : again}`),
    );
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
}
process.exit(1);
