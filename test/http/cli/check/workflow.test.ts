import { parse } from "@cdktn/hcl2json";
import t from "tap";
import { tokenTrustKind } from "../../../../actors/access/tokens/workspace-token-trust.kind.js";
import { fromAttributes } from "../../../../actors/export/from-attributes.js";
import { parseAllowList } from "../../../../actors/outbound/http/allow-list.js";
import { isPlanned, openCheckScene, plannedStation, workCopies } from "../../../support/check-scene.js";
import { makeKeys, startIssuer } from "../../../support/issuer.js";
import { listItems, replace, workspaceWithTeam } from "../../../support/resources.js";
import { startTestService } from "../../../support/service.js";
import { startCiMachine } from "./ci-machine.js";
import { admits, job, readPageFile, workflowFile, workflowText } from "./workflow-file.js";

/** Tests the example workflow and its trust, and runs its job with the real command and service. */

const toPullRequest = (repository: string) => ({
  github: { repository: "acme/app", event: { pull_request: { number: 7, head: { repo: { full_name: repository } } } } },
});

t.test("the workflow stores no secret and may do no more than read the code and ask for its own token", async (t) => {
  t.same(workflowFile.permissions, {});
  t.same(job.permissions, { contents: "read", "id-token": "write" });
  t.notMatch(workflowText, /secrets\./);
  const [checkout] = job.steps;
  t.match(checkout, { uses: /^actions\/checkout@/, with: { "persist-credentials": false } });
});

t.test("it runs for pull requests of the repository itself, and for no fork's", async (t) => {
  t.same(Object.keys(workflowFile.on), ["pull_request"], "never with the rights of the base, as pull_request_target");
  t.equal(admits(toPullRequest("acme/app")), true);
  t.equal(admits(toPullRequest("mallory/app")), false);
  t.equal(admits({ github: { repository: "acme/app", event: { pull_request: { head: { repo: null } } } } }), false);
});

t.test("its actions are GitHub's own, each of a major version, and no expression stands in a shell", async (t) => {
  for (const { uses, run } of job.steps) {
    if (uses !== undefined) t.match(uses, /^actions\/[a-z-]+@v\d+$/);
    t.notMatch(run ?? "", /\$\{\{/);
  }
  t.ok(job["timeout-minutes"] > 300, "the command's own time limit comes first");
});

const trustText = readPageFile("acme/replay-check.tf");
const oneKey = await makeKeys(["ES256"]);

/** Returns the trust of the page, with `issuer` instead of GitHub's token issuer. */
async function trustBody(issuer: string): Promise<Readonly<Record<string, unknown>>> {
  const { resource } = await parse("trust.tf", trustText);
  const { workspace_id: _workspace, ...attributes } = resource.service_workspace_token_trust["replay-check"][0];
  const { schema } = tokenTrustKind({ allowList: parseAllowList("") });
  const { fields, faults } = fromAttributes(schema, attributes, { unknown: {}, omitted: [] });
  if (faults.length > 0) throw new Error(JSON.stringify(faults));
  return { ...fields, issuer };
}

/** The claims of GitHub's token in a job of the workflow, for a pull request. */
const claims = {
  sub: "repo:acme/app:pull_request",
  event_name: "pull_request",
  repository: "acme/app",
  job_workflow_ref: "acme/app/.github/workflows/replay-check.yml@refs/pull/7/merge",
};

t.test("the job checks a pull request without a stored secret, though its token ends in the middle", async (t) => {
  const issuer = await startIssuer(t, oneKey);
  const place = await openCheckScene(t, { settings: { OUTBOUND_ALLOW: issuer.url } });
  const { ada, lineId, workspaceId, service } = place;
  const terms = await trustBody(issuer.url);
  const trust = await ada.create(`/api/resources/workspaces/${workspaceId}/token-trusts`, terms);
  const live = (await ada.request("GET", `/api/resources/lines/${lineId}`)).body ?? {};
  const [work, review] = live.stations as readonly object[];
  const planned = { ...live, stations: [{ ...work, prompt: plannedStation.prompt }, review] };
  const machine = await startCiMachine(t, {
    issuer,
    claims,
    files: { "signalbox/dev.json": JSON.stringify(planned) },
    variables: { SIGNALBOX_URL: service.baseUrl, SIGNALBOX_TRUST: trust.id },
    pullRequest: { number: 7, sha: "3f9c2ab4d5e6" },
  });

  const first = machine.run(1);
  await workCopies(place, 2, isPlanned);
  // Change the trust before the check has a verdict. The change revokes every token that was minted earlier.
  const one = `/api/resources/token-trusts/${trust.id}`;
  t.equal((await replace(ada, one, 1, { ...terms, lifetimeMinutes: 10 })).status, 200);
  await workCopies(place, 10, isPlanned);
  const failed = await first;
  t.equal(failed.code, 1, failed.out);
  t.match(failed.out, /core\/dev\/work: failed: [12] of [12] tasks? that both sides scored regressed, 0 may\n/);
  t.match(
    failed.page,
    /^## ❌ Replay check: failed\n[\s\S]*Regressed:\n {2}- `Mend it`[\s\S]*`harness-failed`: `It gave up\.`/,
  );
  t.ok(machine.given.length >= 2, "the platform's token was exchanged anew");
  for (const secret of [...machine.given, machine.requestToken])
    t.notOk(`${failed.out}${failed.page}`.includes(secret));

  const [check, ...more] = listItems(await ada.request("GET", `${place.set}/replay-checks`));
  t.equal(more.length, 0);
  t.match(check, { reference: { commit: "3f9c2ab4d5e6", pullRequest: 7 }, verdict: "failed", attempt: 1 });
  const changes = listItems(await ada.request("GET", "/api/workspaces/acme/configuration-changes?limit=50"));
  t.match(
    changes.filter(({ resource }) => resource === "replay-check"),
    [{ action: "created", by: { kind: "token", trust: trust.id } }],
  );
  const minted = changes.filter(({ resource, by }) => resource === "workspace-token" && by !== null);
  t.equal(minted.length, machine.given.length);

  const rerun = await machine.run(2);
  t.equal(rerun.code, 1);
  t.match(rerun.out, /the check that this change already had \(attempt 1\)/);
});

t.test("the trust admits the workflow's pull requests, and no push, other workflow or other repository", async (t) => {
  const issuer = await startIssuer(t, oneKey);
  const service = await startTestService(t, { settings: { OUTBOUND_ALLOW: issuer.url } });
  const ada = await service.signIn("ada@example.com");
  const { workspaceId } = await workspaceWithTeam(ada);
  const trusts = `/api/resources/workspaces/${workspaceId}/token-trusts`;
  const trust = await ada.create(trusts, await trustBody(issuer.url));
  const { hcl } = (await ada.request("GET", `/api/resources/token-trusts/${trust.id}/hcl`)).body ?? {};
  const here = String(hcl).replaceAll(`"${workspaceId}"`, "service_workspace.acme.id");
  const written = here.replaceAll(issuer.url, "https://token.actions.githubusercontent.com");
  t.ok(written.endsWith(`\n\n${trustText}`), "it is written as the service exports it");
  const readStatus = async (of: object) =>
    (
      await service.anonymous.request("POST", "/api/workspace-tokens/exchange", {
        trust: trust.id,
        token: await issuer.token({ ...claims, ...of }),
      })
    ).status;
  t.equal(await readStatus({}), 200);
  const workflow = "acme/app/.github/workflows/other.yml@refs/pull/7/merge";
  for (const of of [
    { sub: "repo:acme/app:ref:refs/heads/main" },
    { sub: "repo:mallory/app:pull_request" },
    { event_name: "pull_request_target" },
    { job_workflow_ref: workflow },
    { aud: "another" },
  ])
    t.equal(await readStatus(of), 401, JSON.stringify(of));
});
