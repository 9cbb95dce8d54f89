import t from "tap";
import { findExampleBody } from "../../http/resources/kind-examples.js";
import { createUnder, workspaceWithTeam } from "../support/resources.js";
import { toTables } from "../support/route-table.js";
import { startTestService } from "../support/service.js";

/**
 * Tests "Resource kinds and addresses", "Catalogue of paths", "Export", and the endpoints next to them (configuration
 * API).
 */

interface Catalogued {
  readonly kind: string;
  readonly create: string;
  readonly one: string;
  readonly all: string;
  /** The pattern of a resource's address, in a workspace `acme` with a team `core`. */
  readonly address: RegExp;
  /** The kind's name in the export's path; null for a kind that is not exported. */
  readonly exported: string | null;
  /** Whether the kind has no updates. */
  readonly isNeverReplaced?: true;
}

const slug = "[a-z0-9]+(-[a-z0-9]+)*";

function heldByWorkspace(kind: string, plural: string, address = `^${slug}$`): Catalogued {
  const all = `/workspaces/{workspaceId}/${plural}`;
  const one = `/${plural}/{id}`;
  return { kind, create: all, one, all, address: new RegExp(address), exported: plural === "tokens" ? null : plural };
}

function heldByTeam(kind: string, plural: string): Catalogued {
  const held = heldByWorkspace(kind, plural, `^core/${slug}$`);
  return { ...held, create: `/teams/{teamId}/${plural}` };
}

const catalogue: readonly Catalogued[] = [
  {
    kind: "workspace",
    create: "/workspaces",
    one: "/workspaces/{id}",
    all: "/workspaces",
    address: new RegExp(`^${slug}$`),
    exported: "workspaces",
  },
  heldByWorkspace("team", "teams"),
  heldByTeam("line", "lines"),
  heldByTeam("skill", "skills"),
  heldByTeam("harness-profile", "harness-profiles"),
  heldByTeam("integration", "integrations"),
  heldByTeam("hook", "hooks"),
  heldByWorkspace("secret", "secrets"),
  heldByWorkspace("workspace-token", "tokens"),
  heldByWorkspace("workspace-token-trust", "token-trusts"),
  heldByWorkspace("runner-pool", "runner-pools"),
  heldByWorkspace("runner-trust", "runner-trusts"),
  heldByWorkspace("workspace-runners", "workspace-runners", "^acme$"),
  {
    ...heldByWorkspace("replay-candidate", "replay-candidates", "^core/line-1/work/[^/]+$"),
    create: "/lines/{lineId}/stations/{stationKey}/replay-candidates",
    exported: null,
    isNeverReplaced: true,
  },
];

const beside: readonly string[] = [
  "GET /api/resources/workspaces/{id}/export",
  "GET /api/workspaces/{slug}/configuration-changes",
  "POST /api/workspace-tokens/exchange",
  "GET /api/hook-callbacks/task",
  "POST /api/hook-callbacks/notes",
  "GET /api/workspaces/{slug}/members",
  "PATCH /api/workspaces/{slug}/members/{userId}",
  "POST /api/workspaces/{slug}/invites",
  "GET /api/workspaces/{slug}/invites",
  "POST /api/workspaces/{slug}/invites/{inviteId}/resend",
  "DELETE /api/workspaces/{slug}/invites/{inviteId}",
  "GET /api/invites/{token}",
  "POST /api/invites/{token}/accept",
  "POST /api/teams/{teamId}/members",
];

const base = "/api/resources";

t.test("exactly the catalogue's paths are served, each with its methods", async (t) => {
  const service = await startTestService(t);
  const served = toTables(service).routes.map(({ method, path }) => `${method} ${path}`);
  const six = catalogue.flatMap(({ create, one, all, isNeverReplaced }) => [
    `POST ${base}${create}`,
    `GET ${base}${one}`,
    ...(isNeverReplaced === true ? [] : [`PUT ${base}${one}`]),
    `DELETE ${base}${one}`,
    `GET ${base}${all}/import`,
    `GET ${base}${all}`,
  ]);
  const exports = catalogue.flatMap(({ exported }) => (exported === null ? [] : [`GET ${base}/${exported}/{id}/hcl`]));
  const wanted = [...six, ...exports, ...beside];
  t.same(
    wanted.filter((route) => !served.includes(route)),
    [],
  );
  const own = [/\/refusals$/, /\/dry-run$/];
  t.same(
    served.filter((route) => route.includes(base) && !wanted.includes(route) && !own.some((form) => form.test(route))),
    [],
  );
});

t.test("every kind has an address of its form, which the import takes, and the common fields", async (t) => {
  const service = await startTestService(t, { settings: { OUTBOUND_ALLOW: "hooks.example.com" } });
  const ada = await service.signIn("ada@example.com");
  const { workspaceId, teamId } = await workspaceWithTeam(ada);
  await ada.create(`${base}/workspaces/${workspaceId}/runner-pools`, { key: "trusted" });
  const ids: Record<string, string> = { workspaceId, teamId, stationKey: "work" };
  const at = (path: string) => base + path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? "none");
  for (const { kind, create, all, one, address } of catalogue) {
    const made = await createUnder(ada, at(create), findExampleBody(kind)?.(1), kind);
    t.equal(made.status, 201, made.text);
    t.match(made.body, { id: /^[a-z]+_[0-9A-HJKMNP-TV-Z]{26}$/, version: 1, address, warnings: Array }, kind);
    if (kind === "line") ids.lineId = String(made.body?.id);
    ids.id = String(made.body?.id);
    const named = encodeURIComponent(String(made.body?.address));
    const imported = await ada.request("GET", `${at(all)}/import?address=${named}`);
    t.same([imported.status, imported.body], [200, made.body], `${kind} by its address`);
    t.equal(imported.headers.etag, '"1"');
    const { items } = (await ada.request("GET", at(all))).body as unknown as { items: { id: string }[] };
    t.same(
      items.filter(({ id }) => id === made.body?.id),
      [made.body],
      `${kind} in a list is as a read returns it`,
    );
    t.equal((await ada.request("GET", at(one))).status, 200);
  }
});
