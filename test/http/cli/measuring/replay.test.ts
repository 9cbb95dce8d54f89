import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { workTask } from "../../../support/replay-scene.js";
import { listItems } from "../../../support/resources.js";
import { until } from "../../../support/until.js";
import { openMeasuringScene, workCopies } from "./measuring-scene.js";

t.test("replays of a small set", async (t) => {
  const scene = await openMeasuringScene(t);
  const { place, signalbox, person } = scene;
  const { run, home } = signalbox;
  const write = (name: string, text: string) => writeFileSync(join(home, name), text);
  const start = ["replay", "--ceiling", "2USD"];
  const readSets = async () => listItems(await person.request("GET", `${place.team}/replay-sets`));

  await t.test("without past runs it says what is missing, and makes nothing", async (t) => {
    write("prompt.md", "Try.");
    const refused = await run([...start, "--prompt", "prompt.md"]);
    t.match(refused, { code: 1, err: /the station core\/dev\/work has no ended runs: give it a task first/ });
    t.same(await readSets(), []);
  });

  const runs = [await workTask(place, { base: "1".repeat(40) }), await workTask(place, { base: "2".repeat(40) })];
  const lost = await workTask(place, { base: null });
  const ids = runs.map(({ runId }) => runId);

  await t.test("wrong arguments are named before anything is made", async (t) => {
    write("list.json", "[]");
    write("broken.json", "{");
    const wrong: readonly (readonly [readonly string[], RegExp])[] = [
      [["replay", "--prompt", "prompt.md"], /required option '--ceiling <money>' not specified/],
      [
        ["replay", "--prompt", "prompt.md", "--ceiling", "2"],
        /'--ceiling <money>' argument '2' is invalid\. It must be an amount with its currency/,
      ],
      [[...start], /pass --prompt <file>, --candidate <file>, or --candidate live/],
      [[...start, "--prompt", "prompt.md", "--candidate", "live"], /give --prompt or --candidate, not both/],
      [[...start, "--prompt", "none.md"], /error: there is no file none\.md$/],
      [[...start, "--candidate", "broken.json"], /broken\.json is not JSON/],
      [[...start, "--candidate", "list.json"], /list\.json must be a station block/],
      [[...start, "--candidate", "live", "--runs", "last:0"], /last:N takes 1 to 50 runs/],
      [[...start, "--candidate", "live", "--repeats", "some"], /--repeats .*must be a whole number from 1 to 5/],
      [[...start, "--candidate", "live", "--repeats", "6"], /--repeats .*must be a whole number from 1 to 5/],
      [[...start, "--candidate", "live", "--set", "One", "--line", "dev"], /give --set alone/],
    ];
    for (const [args, message] of wrong) t.match(await run(args), { code: 64, err: message }, args.join(" "));
    const refusals: readonly (readonly [readonly string[], RegExp])[] = [
      [["--candidate", "live", "--station", "none"], /has no station none; there are: work, review/],
      [["--candidate", "live", "--runs", lost.runId], /run_\w+: The commit that the run started from is unknown\./],
      [
        ["--candidate", "live", "--runs", "run_0000"],
        /the station core\/dev\/work has no ended run run_0000: signalbox task show/,
      ],
      [
        ["--candidate", "live", "--runs", "lst:3"],
        /lst:3 is not a run: name ids of runs, .*, or last:N for the newest/,
      ],
      [["--candidate", "live", "--set", "None"], /there is no replay set None in the team core/],
    ];
    for (const [args, message] of refusals) t.match(await run([...start, ...args]), { code: 1, err: message });
    write("wrong.json", JSON.stringify({ from: "live", harness: "none" }));
    t.match(await run([...start, "--candidate", "wrong.json"]), { code: 1, err: /station\.harness/ });
    t.same(await readSets(), [], "no set is left behind");
  });

  await t.test("an interruption leaves the replay running, and says how to look at it", async (t) => {
    const interrupted = new AbortController();
    const running = run([...start, "--prompt", "prompt.md", "--runs", ...ids.map((id) => id.slice(0, -1))], {
      interrupted: interrupted.signal,
    });
    await until("it was started", async () => (await readSets()).length === 1);
    const [set] = await readSets();
    const readReplays = async () =>
      listItems(await person.request("GET", `${place.team}/replay-sets/${set?.id}/replays`));
    await until("it has two replays", async () => (await readReplays()).length === 2);
    const isProposed = ({ candidate }: Readonly<Record<string, unknown>>) =>
      Reflect.get(Object(candidate), "kind") === "proposed";
    const replay = (await readReplays()).find(isProposed);
    interrupted.abort();
    const { code, err } = await running;
    t.equal(code, 130);
    t.match(err, new RegExp(`the replay continues: show the result with signalbox replay show ${replay?.id}`));
    t.match((await readReplays()).find(isProposed), { state: /queued|running/ });
    t.match(await run(["replay", "show"]), { code: 0, out: /^(queued|running): 0 of 2 copies/ });
  });

  await t.test(
    "regressions come first, few tasks are not to be trusted, and equal runs use their set again",
    async (t) => {
      workCopies(scene, ({ station, checkouts: [checkout] }) => {
        return { succeeds: station.prompt === "" || checkout?.base?.startsWith("1") === true, amount: 0.5 };
      });
      const shown = await run(["replay", "show", "--wait"]);
      t.equal(shown.code, 0, shown.err);
      const [sentence, , titles, regressed] = shown.out.split("\n");
      t.match(sentence, /^within noise: 50 % against 100 %, -50 points \[.*\], 2 tasks, .*, too few tasks to trust$/);
      t.match([titles, regressed], [/^REGRESSED +LIVE +CANDIDATE +RUN$/, /^Mend it +100 % +0 % +run_\w+$/]);
      t.match(shown.out, /^✗ +✓ +0 +Mend it\n✓ +✓ +0 +Mend it$/m);

      const again = await run([...start, "--prompt", "prompt.md", "--json"]);
      t.equal(again.code, 0, again.err);
      t.match(again.err, /^1 newer run cannot be repeated: /);
      const { setId, candidate, totals } = JSON.parse(again.out);
      const sets = await readSets();
      t.same([sets.length, sets[0]?.id], [1, setId]);
      t.match([candidate, totals], [{ name: /^prompt\.md [0-9a-f]{8}$/ }, { successRate: 0.5 }]);
      t.equal(
        listItems(await person.request("GET", `${place.team}/replay-sets/${setId}/replays`)).length,
        3,
        "one baseline",
      );
      const typed = await run([...start, "--prompt", "-", "--no-wait"], { input: "Try harder." });
      t.match(typed, { code: 0, out: /^started rep_/ }, "a prompt from standard input");
      const live = await run([...start, "--candidate", "live"]);
      t.match(live.out, /^100 % success \[100, 100\], 2 tasks, 0\.5 USD per run, too few tasks to trust/);
    },
  );

  await t.test("a guarding set is deleted only after a question", async (t) => {
    const hidden = await run(["set", "add", "--new", "Odd\u202E name", ids[0] ?? ""]);
    t.match(hidden, { code: 1, err: /name cannot contain control characters/ });
    const name = "Other name";
    t.equal((await run(["set", "add", "--new", name, ids[0] ?? ""])).code, 0);
    t.match(await run(["set", "list"], { answers: [] }), { code: 0, out: /^<bold>NAME.*\nOther name /m });
    t.equal((await run(["set", "guard", name])).code, 0);
    t.match(await run(["set", "delete", name]), { code: 64, err: /standard input is not a terminal: use --yes/ });
    const kept = await run(["set", "delete", name], { answers: ["n"] });
    t.match(kept, { code: 1, err: /guards the changes of work.*\[y\/N\][\s\S]*the set was not deleted/ });
    t.match(await run(["set", "guard", "--off"]), { code: 0, out: /no longer guards/ });
    t.equal((await run(["set", "guard"])).code, 0);
    t.equal((await run(["set", "delete", name, "--yes"])).code, 0);
    t.match(await run(["set", "add", "--new", name, lost.runId]), {
      code: 1,
      err: /run_\w+: The commit that the run started from is unknown\./,
    });
    t.equal((await readSets()).length, 1);
  });

  await t.test("a replay that is gone is forgotten, and the newest one is shown", async (t) => {
    t.match(await run(["replay", "show", "none"]), {
      code: 1,
      err: /^error: the team core has no replay none: signalbox set show/,
    });
    t.match(await run(["replay", "show", `rep_${"0".repeat(26)}`]), { code: 1, err: /^error: [^\n]*$/ });
    const path = join(home, ".config/signalbox/defaults.json");
    writeFileSync(path, JSON.stringify([[scene.service.baseUrl, home, { replay: `rep_${"0".repeat(26)}` }]]));
    const shown = await run(["replay", "show", "--json"]);
    t.equal(shown.code, 0, shown.err);
    t.match(JSON.parse(shown.out), { candidate: { kind: "proposed" } });
    const [set] = await readSets();
    t.equal((await run(["set", "delete", String(set?.id), "--yes"])).code, 0);
    t.match(await run(["replay", "show"]), { code: 1, err: /^error: no replay yet: start one with signalbox replay/ });
  });
});
