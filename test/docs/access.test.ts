import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { holdsScopes, listScopePermissions, rolePermissions } from "../../actors/access/visibility/permissions.js";
import type { Scope } from "../../actors/caller.js";
import { SCOPES } from "../../http/cli/setup/scopes.js";
import { openDocsScene } from "../support/docs-scene.js";
import { makeKeys, startIssuer } from "../support/issuer.js";
import { readSections, readTables } from "../support/page-tables.js";
import { listItems } from "../support/resources.js";
import type { TestService } from "../support/service.js";
import { until } from "../support/until.js";

const PAGE = "docs/access.md";
const sections = readSections(readFileSync(PAGE, "utf8"));
const names = (cell = "") => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
const keys = await makeKeys(["ES256"]);

/**
 * Waits for a matching line of the log, and ignores the first `from` lines. Returns the text of the pattern's first
 * group.
 */
function findLogged({ logLines }: TestService, pattern: RegExp, from: number): Promise<string> {
  return until(String(pattern), () =>
    logLines
      .slice(from)
      .map((line) => pattern.exec(line)?.[1])
      .find(Boolean),
  );
}

t.test("the tables of roles, permissions and scopes are those of the code", async (t) => {
  const [roles = [], permissions = []] = readTables(sections.get("Change roles and teams") ?? "");
  t.same(Object.fromEntries(roles.map(([role, granted]) => [names(role)[0], names(granted)])), rolePermissions);
  const [scopes = []] = readTables(sections.get("Create tokens") ?? "");
  const known = Object.keys(SCOPES) as Scope[];
  t.same(
    scopes.map(([scope, others, granted]) => [names(scope), names(others).sort(), names(granted)]),
    known.map((scope) => [
      [scope],
      known.filter((other) => other !== scope && holdsScopes([scope], [other])).sort(),
      listScopePermissions([scope]),
    ]),
  );
  const granted = [
    ...Object.values(rolePermissions).flat(),
    ...known.flatMap((scope) => listScopePermissions([scope])),
  ];
  t.same(permissions.flatMap(([permission]) => names(permission)).sort(), [...new Set(granted)].sort());
});

t.test("a reader signs in, invites a person, gives and revokes access", async (t) => {
  const issuer = await startIssuer(t, keys);
  const settings = { OUTBOUND_ALLOW: issuer.url };
  const scene = await openDocsScene(t, { settings, env: { OIDC_TOKEN: await issuer.token() } });
  const { service, reader, values } = scene;
  const link = async () => `${service.baseUrl}/sign-in/${await service.linkFor("ada@example.com")}`;
  Object.assign(values, { "https://token.actions.githubusercontent.com": issuer.url, "<link>": await link() });
  const read = (name: string) => readFileSync(join(reader.repository, name), "utf8").trim();
  const outputs: string[] = [];
  let from = 0;
  await reader.follow(PAGE, {
    values,
    before: async ({ code }) => {
      if (code.includes("<last part of the link>")) {
        values["<last part of the link>"] = await findLogged(
          service,
          /sign-in link for ada\S+: \S+\/sign-in\/([\w-]+)/,
          from,
        );
      }
      if (code.includes("BOB=$(")) {
        const token = await findLogged(service, /\/invites\/([\w-]+)/, 0);
        const bob = await service.signIn("bob@example.com");
        t.equal((await bob.request("POST", `/api/invites/${token}/accept`, {})).status, 200);
      }
      if (code.includes("token revoke")) {
        t.equal((await service.withToken(read("ci-token")).request("GET", "/api/resources/workspaces")).status, 200);
        t.equal((await service.withToken(read("job-token")).request("GET", "/api/resources/workspaces")).status, 200);
      }
      from = service.logLines.length;
    },
    after: ({ code }, { out, err }) => void outputs.push(`${code}\n${out}${err}`),
  });
  const all = outputs.join("\n");
  t.match(all, /person +\S+ <ada@example.com>/);
  t.match(all, /"name":"Ada Lovelace"/);
  t.match(all, /"outcome":"invited"/);
  t.match(all, /"userId":"usr_\w+"[^\n]*"role":"admin"/);
  t.match(all, /person +a workspace token/);
  t.match(all, /trust deploy \(trust_\S+, for workspace tokens\) accepts the claims/);
  t.match(all, /\{"items":\[\]/);
  const tools = all.split("--list-tools\n")[1]?.split("\n## ")[0] ?? "";
  for (const tool of ["task_open", "inbox", "task_answer", "run_approve"]) t.match(tools, tool);
  t.notMatch(tools, "task_close");
  for (const name of ["ci-token", "job-token"]) {
    const { status } = await service.withToken(read(name)).request("GET", "/api/resources/workspaces");
    t.equal(status, 401, `${name} is revoked`);
  }
  const members = listItems(await scene.ada.request("GET", "/api/workspaces/acme/members"));
  t.same(
    members.map(({ email }) => email),
    ["ada@example.com"],
  );
  t.match(read("pool-token"), /^[\w-]{43}$/);
});
