import t from "tap";
import { startCodeHost } from "../../support/code-host.js";
import { connect, install } from "../../support/code-host-scene.js";
import { fillSet, openReplayScene, type ReplayScene, sceneLine } from "../../support/replay-scene.js";
import { listItems, replace } from "../../support/resources.js";
import { workSearch } from "../../support/search-peer.js";
import { until } from "../../support/until.js";
import { signInOnCommandLine } from "../cli/measuring/measuring-scene.js";

const REPOSITORY = "acme-inc/infra";
const [TITLE, SETUP] = ["Mend it", "npm run canary-of-the-setup"];

/** Returns the files of a workspace's export in the folder `infra`, by path. */
async function readExport({ ada, workspaceId }: ReplayScene): Promise<Readonly<Record<string, string>>> {
  const { body } = await ada.request("GET", `/api/resources/workspaces/${workspaceId}/export`);
  const { files } = body as unknown as { files: readonly { path: string; content: string }[] };
  return Object.fromEntries(files.map(({ path, content }) => [`infra/${path}`, content]));
}

t.test(
  "a picked candidate becomes a pull request that changes the exported line in what it changes alone",
  async (t) => {
    const codeHost = await startCodeHost(t);
    install(codeHost, 7);
    codeHost.repositories.set(7, [REPOSITORY]);
    const place = await openReplayScene(t, { settings: codeHost.settings });
    const { ada, team, station, lineId } = place;
    t.equal((await connect(codeHost, ada, { installationId: 7 })).status, 200);
    const [work = sceneLine.stations[0], review] = sceneLine.stations;
    const stations = [{ ...work, prompt: "Look.\n\nOnce." }, review];
    const repositories = [{ name: "acme/app", setup: SETUP }];
    const named = Object.entries(await readExport(place)).find(([, text]) => text.includes('resource "service_line"'));
    const source = { repository: REPOSITORY, path: named?.[0] ?? "" };
    t.equal(
      (await replace(ada, `/api/resources/lines/${lineId}`, 1, { ...sceneLine, repositories, stations, source }))
        .status,
      200,
    );
    const infra = await codeHost.work.addRepository(source.repository, await readExport(place));

    const { set } = await fillSet(place, 5);
    const begun = await ada.request("POST", `${station}/searches`, {
      setId: set.split("/").at(-1),
      agent: { harness: "command" },
      budget: { iterations: 1, perIteration: 1, ceiling: { amount: 50, currency: "EUR" } },
    });
    t.equal(begun.status, 201);
    const search = `${team}/searches/${begun.body?.id}`;
    const prompts = { careful: `Look "twice": %{ if } $${"{first}"}\r\n\n` };
    await workSearch(place, 11, { better: Object.values(prompts), prompts });
    await until("it has ended", async () => (await ada.request("GET", search)).body?.endedAt !== null);
    const { candidates } = (await ada.request("GET", search)).body as {
      candidates: readonly { candidateId: string }[];
    };
    const picked = await ada.request("POST", `${search}/candidates/${candidates[0]?.candidateId}/pick`);
    t.equal(picked.status, 201);
    const { signalbox } = await signInOnCommandLine(t, place);
    const awaited = await signalbox.run(["search", "pick", "careful"]);
    t.match(awaited, { code: 0, out: /^opened http\S+\/pull\/\d+ with careful$/ }, "the command line waits for it");
    const read = async () => (await ada.request("GET", `${team}/config-pull-requests/${picked.body?.id}`)).body;
    const pull = codeHost.work.pulls[0];
    t.match(await read(), { state: "opened", reason: null, ...source, branch: pull?.head, attempts: 1 });
    t.match((await read())?.url, new RegExp(`/pull/${pull?.number}$`));

    const head = (await infra.head(pull?.head ?? "")) ?? "";
    t.same(await infra.commits("main", head), [head]);
    const prompt = "infra/prompts/core/dev/work.md";
    t.same(
      await infra.changed("main", head),
      [{ status: "M", path: prompt }],
      "the file that the export reads it from",
    );
    t.equal((await infra.read(head, prompt)).toString(), prompts.careful);
    t.match(pull?.body, /\| prompt \| changed \| not shown here \| not shown here \|/);
    t.match(pull?.body, /\| success, held-out tasks \| 0\.0 %.* n = 2 tasks/);
    const message = await infra.git("show", "--no-patch", "--format=%B", head);
    const runIds = listItems(await ada.request("GET", `${station}/replayable-runs`)).map(({ runId }) => String(runId));
    for (const forbidden of [TITLE, SETUP, "ada@example.com", ...runIds]) {
      t.notOk(`${pull?.title}\n${pull?.body}\n${message}`.includes(forbidden), forbidden);
    }
  },
);
