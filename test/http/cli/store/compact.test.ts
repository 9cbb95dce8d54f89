import t from "tap";
import { openStore } from "../../../../http/process/open-store.js";
import { listEntries } from "../../../../storage/finding.js";
import { unpackFixture } from "../../../fixtures/unpack.js";
import { type CommandEnd, runSignalbox, runStoreProgram } from "../../../support/signalbox-command.js";

function joined({ code, out, err }: CommandEnd): { readonly code: number; readonly text: string } {
  return { code, text: out + err };
}

t.test("a stopped service's store is compacted, says how large it was and is, and is whole", async (t) => {
  const { folder } = unpackFixture(t, "format-1");
  const compact = async () => joined(await runStoreProgram("compact", "--data", folder));
  t.match(await compact(), { code: 1, text: /has an older format/ });
  const options = { folder, log: { info: () => undefined }, nowMs: () => 0 };
  const store = await openStore(options);
  t.match(await compact(), { code: 1, text: /another process uses/ });
  const entries = [...listEntries(store.reading, [])];
  await store.close();
  const said = joined(await runSignalbox("compact", "--data", folder));
  t.match(said, {
    code: 0,
    text: new RegExp(`: \\d+ bytes before, \\d+ after; all ${entries.length} entries are intact`),
  });
  const again = await openStore(options);
  t.same([...listEntries(again.reading, [])], entries);
  await again.close();
  t.match(joined(await runStoreProgram("doctor", "--data", folder)), { code: 0, text: /is whole/ });
});
