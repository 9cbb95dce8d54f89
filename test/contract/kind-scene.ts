import type { Test } from "tap";
import { createKinds } from "../../actors/catalogue.js";
import { parseAllowList } from "../../actors/outbound/http/allow-list.js";
import type { Kind } from "../../actors/resources/kind.js";
import { exampleBodies, findExampleBody } from "../../http/resources/kind-examples.js";
import type { Clock } from "../../runtime/clock.js";
import { workspaceWithTeam } from "../support/resources.js";
import { type Client, type Reply, startTestService, type TestService } from "../support/service.js";
import { exampleSettings, type KindExample, kindExamples } from "./kind-examples.js";

/** All kinds of the catalogue. */
export const allKinds = createKinds({ allowList: parseAllowList(exampleSettings.OUTBOUND_ALLOW), signsTokens: false });

const base = "/api/resources";

/** A workspace in which the tests create resources of one kind. */
export interface KindScene {
  readonly service: TestService;
  readonly owner: Client;
  readonly workspaceId: string;
  readonly teamId: string;
  readonly example: KindExample;
  readonly body: (n: number) => Record<string, unknown>;
  /** The path for creating a resource; for kinds that belong to a team, in the first team. */
  readonly create: string;
  readonly list: string;
  readonly import: string;
  /** Returns the path of a resource. */
  readonly one: (resource: { readonly id: unknown } | null | undefined) => string;
  /**
   * Creates another team in the workspace. For kinds that belong to a station, also creates a line in that team.
   * Returns the path for creating a resource there.
   */
  readonly inTeam: (key: string) => Promise<string>;
}

/** Starts a service with a workspace for resources of the kind. The workspace's owner is signed in. */
export async function kindScene(t: Test, kind: Kind, options: { readonly clock?: Clock } = {}): Promise<KindScene> {
  const example = kindExamples[kind.name];
  const body = findExampleBody(kind.name);
  if (example === undefined || body === undefined) {
    throw new Error(`give ${kind.name} an example in kind-examples.ts and a body in http/resources/kind-examples.ts`);
  }
  const service = await startTestService(t, { settings: exampleSettings, ...options });
  const owner = await service.signIn("owner@example.com");
  const { workspaceId, teamId } = await workspaceWithTeam(owner);
  const all = kind.heldBy === "none" ? `${base}/workspaces` : `${base}/workspaces/${workspaceId}/${kind.plural}`;
  for (const needed of example.needs ?? []) {
    await owner.create(`${base}/workspaces/${workspaceId}/${needed.collection}`, needed.body);
  }
  const createIn = async (team: string): Promise<string> => {
    if (kind.heldBy === "team") return `${base}/teams/${team}/${kind.plural}`;
    if (kind.heldBy !== "station") return all;
    const line = await owner.create(`${base}/teams/${team}/lines`, { ...exampleBodies.line(1), key: "dev" });
    return `${base}/lines/${line.id}/stations/work/${kind.plural}`;
  };
  return {
    service,
    owner,
    workspaceId,
    teamId,
    example,
    body,
    create: await createIn(teamId),
    list: all,
    import: `${all}/import`,
    one: (resource) => `${base}/${kind.plural}/${resource?.id}`,
    inTeam: async (key) =>
      createIn((await owner.create(`${base}/workspaces/${workspaceId}/teams`, { key, name: key })).id),
  };
}

/** Returns the fields of an answer that may be sent in a body. */
export function writable(kind: Kind, { body }: Reply): object {
  const readOnly = ["id", "version", "address", "warnings", "workspaceId", "teamId", ...Object.keys(kind.added ?? {})];
  return Object.fromEntries(Object.entries(body ?? {}).filter(([name]) => !readOnly.includes(name)));
}
