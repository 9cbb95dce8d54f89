import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { openDocsScene } from "../support/docs-scene.js";
import { readBlocks } from "../support/page-blocks.js";
import { type ReplayScene, sceneLine, toReplayScene, workTask } from "../support/replay-scene.js";
import { listItems } from "../support/resources.js";
import { until } from "../support/until.js";

/** Follows `docs/checks.md`. The test is the runner. `test/http/cli/check/workflow.test.ts` runs the page's workflow. */

const PAGE = "docs/checks.md";
const WORSE = "Do as little as you can.";

/** Works on all copies until the test ends. Copies under the prompt {@link WORSE} fail; all other copies succeed. */
function workChecks({ peer }: ReplayScene): void {
  const next = async (): Promise<void> => {
    const job = await peer.job();
    peer.start(job);
    const spent = { amount: 0.04, currency: "USD" };
    const ending =
      job.station.prompt === WORSE
        ? ({ kind: "ask", question: "Which one?" } as const)
        : ({ kind: "finish", note: "" } as const);
    peer.end(job, { ending, spent });
    return next();
  };
  next().catch(() => undefined);
}

t.test("a planned change is checked on the command line, from CI and over HTTP", async (t) => {
  const place = await toReplayScene(await openDocsScene(t, { stations: sceneLine.stations }));
  const { reader, values, ada, workspaceId, lineId, team } = place;
  for (let n = 1; n <= 2; n++) await workTask(place, { base: String(n).repeat(40) });
  await reader.run('signalbox set add --new "Last month" last:20');
  workChecks(place);

  const terms = readBlocks(readFileSync(PAGE, "utf8"), PAGE).find(
    ({ language, title }) => language === "hcl" && title === null,
  );
  const edit = (file: string, from: string | RegExp, to: string) => {
    const path = join(reader.repository, file);
    const text = readFileSync(path, "utf8");
    t.match(text, from);
    writeFileSync(path, text.replace(from, to));
  };
  const ended: { readonly code: string; readonly output: string }[] = [];
  await reader.follow(PAGE, {
    values,
    before: ({ code }) => {
      if (code === "signalbox apply acme --yes" && ended.length === 2)
        edit("acme/main.tf", /^ {2}repositories = /m, `${terms?.code}\n$&`);
      if (code.startsWith("signalbox check")) edit("signalbox/main.json", '"prompt":""', '"prompt":"Look twice."');
    },
    after: ({ code }, { out, err }) => {
      ended.push({ code, output: `${err}${out}` });
    },
  });
  const outputOf = (command: RegExp) => ended.find(({ code }) => command.test(code))?.output ?? "";
  t.match(outputOf(/set guard/), "Last month guards the changes of work: signalbox check replays it");
  t.match((await ada.request("GET", `/api/resources/lines/${lineId}`)).body, {
    replayCheck: { mostRegressions: 0, ceiling: 5, currency: "USD", minGain: 0.05 },
  });
  t.match(outputOf(/^signalbox check/), /^core\/main\/work: passed[\s\S]*^replay check: passed$/m);
  const [trust] = listItems(await ada.request("GET", `/api/resources/workspaces/${workspaceId}/token-trusts`));
  t.match(trust, { key: "replay-check", subject: "repo:acme/app:pull_request", scopes: ["plan"] });
  t.ok(outputOf(/token-trusts/).includes(`\n${trust?.id}\n`), "the trust's id is printed");

  const check = JSON.parse(outputOf(/^TEAM=/));
  t.match(check, { stationKey: "work", repeats: 3, reference: { commit: "3f9c2ab", pullRequest: 17 } });
  await until("the check over HTTP passed", async () => {
    return (await ada.request("GET", `${team}/replay-checks/${check.id}`)).body?.verdict === "passed";
  });

  edit("signalbox/main.json", "Look twice.", WORSE);
  const failed = await reader.run("signalbox check --line core/main signalbox/main.json");
  t.match(failed, { code: 1, out: /core\/main\/work: failed: [12] of 2 tasks/ }, "a worse change ends with 1");
  edit("signalbox/main.json", '"key":"work"', '"key":"wrk"');
  const mistyped = await reader.run("signalbox check --line core/main signalbox/main.json");
  t.match(mistyped, { code: 0, out: /wrk/ }, "a mistyped key passes, and is named");
});
