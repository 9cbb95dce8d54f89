import t from "tap";
import { fillSet } from "../../../support/replay-scene.js";
import { listItems } from "../../../support/resources.js";
import { workSearch } from "../../../support/search-peer.js";
import { openMeasuringScene } from "./measuring-scene.js";

t.test("searches of a set", async (t) => {
  const scene = await openMeasuringScene(t);
  const { place, signalbox, person } = scene;
  const { run } = signalbox;
  const terms = ["--ceiling", "50EUR", "--iterations", "1", "--per-iteration", "1"];
  const readSearches = async () => listItems(await person.request("GET", `${place.team}/searches`));

  await t.test("what is missing is named", async (t) => {
    t.match(await run(["set", "list"]), { code: 0, out: "", err: /^no replay sets: make one with signalbox set add/ });
    t.match(await run(["search", "show"]), { code: 1, err: /the team has no search: start one with signalbox search/ });
    t.match(await run(["search", "show", "none"]), {
      code: 1,
      err: /^error: the team core has no search none: [^\n]*$/,
    });
    t.match(await run(["set", "list", "--line", "dev"]), { code: 0, err: /^no matching replay sets$/ });
    t.match(await run(["search", "start", ...terms]), { code: 1, err: /the team has no replay set: make one with/ });
    await fillSet(place, 5);
    const wrong = [
      [["--iterations", "none"], /--iterations .*must be a whole number from 1/],
      [["--effort", "none"], /--effort .*Allowed choices are low, medium, high, xhigh, max/],
      [["--objective", "fame"], /--objective .*Allowed choices are success, cost/],
    ] as const;
    for (const [args, message] of wrong) {
      t.match(await run(["search", "start", ...terms, ...args]), { code: 64, err: message });
    }
    t.match(await run(["search", "estimate"]), { code: 64, err: /required option '--ceiling <money>' not specified/ });
    t.match(await run(["search", "start", ...terms, "--agent", "none"]), {
      code: 1,
      err: /^error: --agent: must be a harness/,
    });
    t.match(await run(["set", "add", "--new", "Few", "last:1"]), { code: 0 });
    const few = await run(["search", "estimate", "Few", ...terms]);
    t.match(few, { code: 1, err: /^error: the set "Few" covers too few tasks: [^\n]*$/ });
    t.match(await run(["set", "delete", "Few", "--yes"]), { code: 0 });
    t.match((await run(["search", "start", "--help"])).out, /proposal rounds \(default: 4\)$/m);
    t.same(await readSearches(), []);
  });

  await t.test("the best config is named, and a pick that is refused says why", async (t) => {
    t.equal((await run(["search", "start", ...terms, "--json"])).code, 0);
    const watching = run(["search", "watch"]);
    await workSearch(place, 11, { better: ["Look twice."], prompts: { careful: "Look twice." } });
    const { code, out, err } = await watching;
    t.equal(code, 0, err);
    t.match(
      out,
      /^best: careful, 100 % against 0 % on held-out tasks, \+100 points \[100, 100\], 2 tasks, 1 against 1 EUR/,
    );
    t.match(out, /^100 % ┤ +a$/m);
    t.match(out, /^a +careful +100 % +100 % +\+100 \[100, 100\] \(few tasks\) +1 +frontier$/m);
    t.match(await run(["search", "pick"]), { code: 1, out: /^refused: .+\ncandidate +careful\n/ });
    t.match(await run(["search", "pick", "none"]), { code: 1, err: /has no candidate none; there are: careful/ });
    t.match(await run(["search", "show", "--svg", "none/frontier.svg"]), { code: 1, err: /cannot write none/ });
  });

  await t.test("an interruption leaves the search running; a stopped one has failed", async (t) => {
    t.equal((await run(["search", "start", ...terms])).code, 0);
    const [search] = await readSearches();
    const interrupted = new AbortController();
    const { code, err } = await run(["search", "watch"], {
      interrupted: interrupted.signal,
      onNote: () => interrupted.abort(),
    });
    t.equal(code, 130);
    t.match(
      err,
      /^\w+: iteration \d of 1.*(waits for a runner|measures the live config first)/,
      "it says what it waits for",
    );
    t.match(err, new RegExp(`the search continues: follow it with signalbox search watch ${search?.id}`));
    t.notMatch(err, /error:|interrupted/);
    t.equal((await readSearches())[0]?.endedAt, null);
    t.match(await run(["search", "pick"]), { code: 1, err: /name the candidate to pick: / });
    t.match(await run(["search", "pick", "none"]), { code: 1, err: /has no candidate none; there are: none/ });
    t.equal((await person.request("POST", `${place.team}/searches/${search?.id}/stop`)).status, 204);
    t.match(await run(["search", "watch", String(search?.id).slice(0, -2)]), { code: 1, out: /^no.* found/ });
  });
});
