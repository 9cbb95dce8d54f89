import t from "tap";
import { openStore } from "../../../../http/process/open-store.js";
import { listEntries } from "../../../../storage/finding.js";
import { unpackFixture } from "../../../fixtures/unpack.js";
import { runSignalbox } from "../../../support/signalbox-command.js";

async function run(command: string, folder: string): Promise<{ readonly code: number; readonly text: string }> {
  const { code, out, err } = await runSignalbox(command, "--data", folder);
  return { code, text: out + err };
}

t.test("a stopped service's store is compacted, says how large it was and is, and is whole", async (t) => {
  const { folder } = unpackFixture(t, "format-1");
  t.match(await run("compact", folder), { code: 1, text: /has an older format/ });
  const options = { folder, log: { info: () => undefined }, nowMs: () => 0 };
  const store = await openStore(options);
  t.match(await run("compact", folder), { code: 1, text: /another process uses/ });
  const entries = [...listEntries(store.reading, [])];
  await store.close();
  const said = await run("compact", folder);
  t.match(said, {
    code: 0,
    text: new RegExp(`: \\d+ bytes before, \\d+ after; all ${entries.length} entries are intact`),
  });
  const again = await openStore(options);
  t.same([...listEntries(again.reading, [])], entries);
  await again.close();
  t.match(await run("doctor", folder), { code: 0, text: /is whole/ });
});
