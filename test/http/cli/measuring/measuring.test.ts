import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { testCommands } from "../../../support/command-cases.js";
import { workTask } from "../../../support/replay-scene.js";
import { foundConfig, measuringCases } from "./measuring-cases.js";
import { openMeasuringScene, workCopies } from "./measuring-scene.js";

t.test("past runs are replayed under another prompt and compared, and every command of measuring runs", async (t) => {
  const scene = await openMeasuringScene(t);
  const { place, signalbox } = scene;
  for (let n = 1; n <= 5; n++) await workTask(place, { base: String(n).repeat(40) });
  writeFileSync(join(signalbox.home, "better.md"), "Look twice.\n");
  // Number of tasks that the live config solves. During the search, this number is 0, so the result does not depend on
  // the random split.
  let solved = 2;
  workCopies(
    scene,
    ({ station, checkouts: [checkout] }) => {
      if (station.prompt === "Look twice.\n") return { succeeds: true, amount: 0.06 };
      return { succeeds: Number(checkout?.base?.charAt(0)) <= solved, amount: 0.04 };
    },
    { careful: "Look twice.\n" },
  );
  t.equal((await signalbox.run(["set", "add", "--new", "Measured", "last:20"])).code, 0);
  const replayed = await signalbox.run(["replay", "--prompt", "better.md", "--ceiling", "5USD"]);
  t.equal(replayed.code, 0, replayed.err);
  t.match(replayed.err, /^the live config is also replayed, within 15 USD\n/);
  t.match(replayed.err, /^\w+: \d+ of 5 copies, [\d.]+ of 5 USD/m, "progress");
  const [sentence, ...lines] = replayed.out.split("\n");
  t.equal(sentence, "better: 100 % against 40 %, +60 points [20, 100], 5 tasks, 0.06 against 0.04 USD a run");
  t.same(lines.slice(1, 6), [
    "success %  0                  50                 100",
    "candidate  ········································●  100 % [100, 100]",
    "live       ├───────────────●───────────────┤········  40 % [0, 80]",
    "points     -100                0                 100",
    "gain       ····················│···├───────●───────┤  +60 [20, 100]",
  ]);
  t.same(
    lines.filter((line) => line.endsWith("Mend it")),
    [..."✓✓✗✗✗"].map((live) => `✓          ${live.repeat(3)}   +0.02  Mend it`),
  );

  solved = 0;
  const svg = join(signalbox.home, "frontier.svg");
  const terms = ["--iterations", "1", "--per-iteration", "1", "--ceiling", "20USD"];
  const begun = await signalbox.run(["search", "start", "Measured", ...terms]);
  t.equal(begun.code, 0, begun.err);
  t.match(begun.err, /^warning: 2 tasks are held out, 5 are needed to confirm a gain/);
  const watched = await signalbox.run(["search", "watch", "--svg", "frontier.svg"]);
  t.equal(watched.code, 0, watched.err);
  t.match(watched.err, /^\w+: iteration \d of 1, \d candidates?, [\d.]+ of 20 USD/);
  t.match(watched.out, foundConfig);
  t.match(readFileSync(svg, "utf8"), /^<svg [\s\S]*>careful<\/text>/);
  await testCommands(t, scene, measuringCases);
});
