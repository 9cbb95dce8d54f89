import type { LineFields } from "../../actors/lines/line.js";
import type { Station } from "../../actors/lines/station.js";
import { type ResourceRow, resourceAddresses, resources } from "../../actors/resources/resource.table.js";
import { putMember } from "../../actors/workspaces/member.table.js";
import type { DirectedWriting } from "../../runtime/directories/directory.js";
import type { Writing } from "../../storage/store.js";

/** This file has rows of a workspace with a line of two stations, for machines stepped by hand. */

export const workspaceId = "ws_1";
export const teamId = "team_1";
export const lineId = "line_1";

function station(key: string, more: Partial<Station> = {}): Station {
  return {
    id: `sta_${key}`,
    key,
    name: key,
    kind: "work",
    harness: "command",
    model: null,
    effort: null,
    profile: null,
    prompt: "",
    skills: [],
    tools: [],
    judge: null,
    check: null,
    diffs: false,
    decisions: false,
    runners: { pool: null, labels: [] },
    passesTo: [],
    timeoutMinutes: 60,
    alerts: [],
    ...more,
  };
}

export const line: LineFields = {
  key: "dev",
  name: "Dev",
  repositories: [{ name: "acme/app", setup: null, image: null }],
  source: null,
  replayCheck: null,
  pullRequests: null,
  stations: [station("work", { passesTo: ["review"] }), station("review", { kind: "review", passesTo: ["work"] })],
};

/** Writes the workspace with two people on the team, and its line. */
export function putLine(rows: DirectedWriting): void {
  put(rows, { kind: "workspace", id: workspaceId, address: "acme", teamId: null, fields: {} });
  for (const userId of ["usr_1", "usr_2"]) {
    putMember(rows, workspaceId, {
      userId,
      email: `${userId}@example.com`,
      role: "member",
      teams: [teamId],
      since: "",
    });
  }
  put(rows, { kind: "line", id: lineId, address: "core/dev", teamId, fields: { ...line } });
}

/** Writes the team, so that lists of teams contain it. */
export function putTeam(rows: Writing): void {
  put(rows, { kind: "team", id: teamId, address: "core", teamId: null, fields: {} });
}

/** Writes a second team, with a line on the same repositories. */
export function putSecondTeam(rows: Writing): void {
  put(rows, { kind: "team", id: "team_2", address: "second", teamId: null, fields: {} });
  put(rows, { kind: "line", id: "line_2", address: "second/dev", teamId: "team_2", fields: { ...line } });
}

/** Writes a pool that runners may join. */
export function putPool(rows: Writing, poolId: string): void {
  const fields = { key: "main", kind: "pull", labels: [], concurrency: null, push: null };
  put(rows, { kind: "runner-pool", id: poolId, address: "main", teamId: null, fields });
}

function put(rows: Writing, row: Pick<ResourceRow, "kind" | "id" | "address" | "teamId" | "fields">): void {
  const { kind, id, address } = row;
  const rest = { version: 1, workspaceId, hidden: {}, added: {}, createdAt: "", updatedAt: "" };
  resources.put(rows, workspaceId, [kind, id], { ...row, ...rest });
  resourceAddresses.put(rows, workspaceId, [kind, address], id);
}
