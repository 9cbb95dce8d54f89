import { once } from "node:events";
import t from "tap";
import { MAX_DIFF_BYTES } from "../../../actors/runners/protocol.js";
import { personAt } from "../../support/people.js";
import { RawConnection } from "../../support/raw-connection.js";
import { bearer, toProblem, workspaceWithTeam } from "../../support/resources.js";
import { openWorkplace } from "../../support/workplace.js";

const base = "b".repeat(40);
const small = "diff --git a/a.txt b/a.txt\n";
// A long diff with characters of several bytes, and no newline at its end.
const long = `diff --git a/ä.txt b/ä.txt\n+${"ä€😀".repeat(Math.floor(MAX_DIFF_BYTES / 9) - 8)}`;

t.test("a run's diff is a text by repository, whole, and empty before the run's end", async (t) => {
  const place = await openWorkplace(t, { repositories: ["acme/app", "acme/lib", "acme/none"] });
  const taskId = await place.open();
  const [run] = await place.runs(taskId);
  const path = `/api/runs/${run?.id}/diff`;
  const read = (query = "") => place.ada.request("GET", `${path}${query}`);
  const before = await read();
  t.match(before, { status: 200, text: "", headers: { "content-type": "text/x-diff; charset=utf-8" } });
  t.match(await read("?repository=acme/app"), { status: 200, text: "" }, "the run works on it, and has not ended");

  const peer = await place.runner();
  const checkouts = [
    { repository: "acme/app", base, diff: long },
    { repository: "acme/lib", base, diff: small },
    { repository: "acme/none", base, diff: "" },
  ];
  peer.end(await peer.job(), { ending: { kind: "ask", question: "Done?" }, checkouts });
  await place.when(`task/${taskId}`, async () => (await place.task(taskId)).state === "inbox");
  const whole = await read();
  t.ok(whole.text === `${long}\n${small}`, "one after the other, on lines of their own");
  t.equal(whole.headers["content-length"], String(Buffer.byteLength(whole.text)));
  t.ok((await read("?repository=acme/app")).text === `${long}\n`);
  t.equal((await read("?repository=acme/lib")).text, small);
  t.match(await read("?repository=acme/none"), { status: 200, text: "" }, "no changes");
  t.match(toProblem(await read("?repository=acme/else")), {
    status: 404,
    detail: "The run does not work on the repository acme/else.",
    hint: "`repository` takes acme/app, acme/lib, acme/none here",
  });
  t.equal((await read("?repository=")).status, 400);
  t.equal((await read("?repository=acme/lib&repository=acme/app")).status, 400);

  const shown = (query: string) => place.ada.request("GET", `/api/runs/${run?.id}${query}`);
  const own = { diff: null, own: null };
  t.same((await shown("?diff=false")).body?.checkouts, [
    { repository: "acme/app", base, ...own },
    { repository: "acme/lib", base, ...own },
    { repository: "acme/none", base, ...own },
  ]);
  t.same((await shown("")).body?.checkouts, checkouts);
  t.same((await shown("?diff=true")).body?.checkouts, checkouts);
  t.equal((await shown("?diff=no")).status, 400);
});

t.test("who may not read a run does not find its diff", async (t) => {
  const place = await openWorkplace(t);
  const [run] = await place.runs(await place.open());
  const stranger = await personAt(place.service, "stranger@example.com");
  await workspaceWithTeam(stranger, "elsewhere");
  const refused = await stranger.request("GET", `/api/runs/${run?.id}/diff?repository=acme/app`);
  const absent = await stranger.request("GET", "/api/runs/run_01J0000000000000000000000A/diff");
  t.equal(refused.status, 404);
  t.same(toProblem(refused), toProblem(absent));
  t.equal((await place.service.anonymous.request("GET", `/api/runs/${run?.id}/diff`)).status, 401);
});

t.test("slow readers of one workspace leave room for other workspaces, and for empty diffs", async (t) => {
  const place = await openWorkplace(t, { repositories: ["acme/app", "acme/lib"] });
  const { service, ada, workspaceId } = place;
  const [, second] = [await place.open(), await place.open()];
  const [waiting] = await place.runs(second);
  const peer = await place.runner();
  const job = await peer.job();
  const checkouts = ["acme/app", "acme/lib"].map((repository) => ({ repository, base, diff: long }));
  peer.end(job, { ending: { kind: "ask", question: "Done?" }, checkouts });
  const path = `/api/runs/${job.runId}/diff`;
  await place.until(async () => Number((await ada.request("HEAD", path)).headers["content-length"]) > 0);

  const readers: RawConnection[] = [];
  t.teardown(() => {
    for (const reader of readers) reader.destroy();
  });
  for (const name of ["a", "b", "c", "d"]) {
    const token = await bearer(service, ada, { workspaceId, name, scopes: ["read"] });
    for (let n = 0; n < 4; n++) {
      const reader = await RawConnection.open(service.port);
      readers.push(reader);
      reader.send([`GET ${path} HTTP/1.1`, "Host: a", `Authorization: ${token.credentials.authorization}`]);
      await once(reader.socket, "data");
      reader.socket.pause();
    }
    t.equal((await token.request("GET", path)).status, 429, "each caller has a limit");
  }
  t.match(await ada.request("GET", path), { status: 429, headers: { "retry-after": "5" } }, "the workspace has one");
  t.match(await ada.request("GET", `/api/runs/${waiting?.id}/diff`), { status: 200, text: "" }, "an empty diff");
  readers[0]?.destroy();
  await service.logged(/\/diff","status":200,.*"isCut":true/);
  t.equal((await ada.request("HEAD", path)).status, 200);
});
