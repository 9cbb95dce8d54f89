import { z } from "zod";
import { createKinds } from "../../actors/catalogue.js";
import { parseAllowList } from "../../actors/outbound/http/allow-list.js";
import { findExampleBody } from "../../http/resources/kind-examples.js";
import { wholeIntegration } from "./integration.js";
import type { Client } from "./service.js";

/** The settings of a service in which {@link wholeWorkspace} can create its resources. */
export const settings = { OUTBOUND_ALLOW: "hooks.example.com" };
export const kinds = createKinds({ allowList: parseAllowList(settings.OUTBOUND_ALLOW), signsTokens: false });
/** A text with everything that HCL escapes. */
export const hostile = ["$", '{var.secret} %{ if } "quoted" \\ \n<<EOT\nEOT\n\tend \u0000 é 💥 $$', "{x}"].join("");
export const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
export const weirdPath = ["a b/$", "{x} %{y}.md"].join("");
export const token = "pool-token-pool-token-pool-token-pool";

/** Returns a variable's value, chosen by the variable's name. An export never contains these values. */
export function valueFor(variable: string): string {
  if (variable.endsWith("_signing_secret")) return secret;
  return variable.startsWith("runner_pool_") ? token : "a secret value";
}

/** Creates a workspace with a resource of every exported kind, each with all of its fields. */
export async function wholeWorkspace(owner: Client, slug = "acme"): Promise<string> {
  const { id } = await owner.create("/api/resources/workspaces", {
    slug,
    name: `Acme ${hostile}`.slice(0, 100),
  });
  const held = `/api/resources/workspaces/${id}`;
  await owner.create(`${held}/runner-pools`, { key: "1-linux", labels: ["x.y_z"], concurrency: 3, token });
  await owner.create(`${held}/secrets`, { name: "deploy", value: "v", valueVersion: 2, hosts: ["*.example.com:8443"] });
  const terms = { issuer: "https://ci.example.com/$" + "{x}", audience: "a%{b}", claims: { job_ref: '"*"' } };
  await owner.create(`${held}/workspace-runners`, { defaultPool: "1-linux", maxConcurrentRuns: 7 });
  await owner.create(`${held}/runner-trusts`, { key: "hosts", ...terms, subject: "host/*", pools: ["1-linux"] });
  const minted = { scopes: ["read", "configure"], lifetimeMinutes: 5 };
  await owner.create(`${held}/token-trusts`, { key: "ci", ...terms, subject: "repo:acme/app:*", ...minted });
  await owner.create(`${held}/secrets`, { name: "tracker", value: "v", valueVersion: 1 });
  for (const key of ["web", "app"]) {
    const { id: teamId } = await owner.create(`${held}/teams`, { key, name: key });
    await readTeam(owner, teamId);
    await readOthers(owner, { workspaceId: id, teamId });
  }
  return id;
}

/**
 * Creates the example of each exported kind of which the workspace or the team has no resource yet. So the export
 * contains all kinds.
 */
async function readOthers(owner: Client, at: { readonly workspaceId: string; readonly teamId: string }): Promise<void> {
  for (const { name, plural, heldBy, hcl } of kinds) {
    if (hcl === null || heldBy === "none" || heldBy === "station") continue;
    const list = await owner.request("GET", `/api/resources/workspaces/${at.workspaceId}/${plural}`);
    const items = z.array(z.object({ teamId: z.string().optional() })).parse(list.body?.items);
    if (items.some(({ teamId }) => heldBy === "workspace" || teamId === at.teamId)) continue;
    const held = heldBy === "team" ? `teams/${at.teamId}` : `workspaces/${at.workspaceId}`;
    await owner.create(`/api/resources/${held}/${plural}`, findExampleBody(name)?.(1));
  }
}

async function readTeam(owner: Client, teamId: string): Promise<void> {
  const held = `/api/resources/teams/${teamId}`;
  await owner.create(`${held}/skills`, {
    key: "greet",
    name: hostile.slice(0, 100),
    description: hostile,
    files: [
      { path: "SKILL.md", content: hostile },
      { path: weirdPath, content: "" },
    ],
  });
  await owner.create(`${held}/harness-profiles`, {
    key: "shell",
    args: ["sh", hostile.replace("\0", "")],
    timeoutMinutes: 5,
    env: { LEVEL: hostile.replace("\0", "") },
    secrets: { DEPLOY_KEY: "deploy" },
  });
  await owner.create(`${held}/integrations`, wholeIntegration());
  await owner.create(`${held}/lines`, {
    key: "main-line",
    name: hostile.slice(0, 100),
    repositories: [{ name: "acme/app", setup: 'npm ci\nnpm test -- "$' + '{X}"', image: null }],
    source: { repository: "acme/config", path: "lines/main.tf" },
    replayCheck: { mostRegressions: 1, ceiling: 2.5, currency: "EUR", minGain: 0.1 },
    stations: [
      {
        key: "build",
        name: "Build",
        kind: "work",
        harness: "command",
        model: "m",
        effort: "high",
        prompt: hostile,
        check: "make check",
        diffs: true,
        decisions: true,
        timeoutMinutes: 12.5,
        judge: { rubric: hostile, scale: "number", passScore: 4.5, claims: ["It works.", hostile], model: "m" },
        runners: { pool: "1-linux", labels: ["x.y_z"] },
        profile: "shell",
        skills: ["greet"],
        tools: [{ tool: "tracker.comment", approval: true }, "tracker.close_item"],
        passesTo: ["review"],
        alerts: [{ measure: "cost", above: 1.5, over: 10 }],
      },
      { key: "review", name: "Review", kind: "review", judge: { claims: ["Only a claim."] } },
    ],
  });
  const body = {
    text: hostile,
    nested: { "odd key": [1, { deep: null }], [hostile]: true, Camel: "$" + "{ event.at }" },
  };
  await owner.create(`${held}/hooks`, {
    key: "tell",
    on: "run.starting",
    match: { lines: ["main-line"], stations: ["build"], repositories: ["acme/app"] },
    vars: { level: hostile, camelCase: "x" },
    steps: [{ name: "one", request: { url: "https://hooks.example.com/in", headers: { "x-Odd": "1" }, body } }],
    signing: { secret, secretVersion: 3 },
    failure: "block",
    timeoutSeconds: 30,
  });
}
