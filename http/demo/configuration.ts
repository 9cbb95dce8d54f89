import { fileURLToPath } from "node:url";
import type { Client } from "./client.js";

/** Checks that every note starts with a title. */
const CHECK =
  'for note in notes/*.md; do case "$note" in */INDEX.md) ;; *) head -1 "$note" | grep -q "^# " || exit 1;; esac; done';

const PROPOSER = fileURLToPath(new URL("proposer.js", import.meta.url));
/** A prompt with which agents do better than with the live prompt. */
export const BETTER_PROMPT = "Write the note, and list it in notes/INDEX.md.";

/** The repository and file with the line's config, in the form of the workspace's export. */
export const CONFIG_SOURCE = { repository: "acme/config", path: "main.tf" };

/** The demo's team, with tokens for it. */
export interface Configured {
  readonly workspaceId: string;
  readonly teamId: string;
  readonly lineId: string;
  /** The path of the station whose agents write notes, and the path of its replay candidates. */
  readonly workStationPath: string;
  readonly workCandidates: string;
  /** The runner's token. */
  readonly poolToken: string;
  /** A token with the scope `read`, for exploring. */
  readonly readToken: string;
}

/** Creates a workspace with a team, a secret, a runner pool, a line of two stations, and two hooks to a receiver. */
export async function configure(
  client: Client,
  receiver: { readonly url: string; readonly secret: string },
): Promise<Configured> {
  const under = "/api/resources";
  const { body: workspace } = await client.post(`${under}/workspaces`, { slug: "acme", name: "Acme" });
  const inWorkspace = `${under}/workspaces/${workspace.id}`;
  const { body: team } = await client.post(`${inWorkspace}/teams`, { key: "docs", name: "Docs" });
  await client.post(`${inWorkspace}/secrets`, {
    name: "model-key",
    value: "a key that no agent of the demo needs",
    valueVersion: 1,
  });
  // The team's only profile for this harness. Search agents use it; the stations name no profile.
  await client.post(`${under}/teams/${team.id}/harness-profiles`, {
    key: "proposer",
    harness: workStation.harness,
    args: [process.execPath, PROPOSER, BETTER_PROMPT],
  });
  const pool = await client.post(`${inWorkspace}/runner-pools`, { key: "local" });
  const token = await client.post(`${inWorkspace}/tokens`, { name: "look-around", scopes: ["read"] });
  const { body: made } = await client.post(`${under}/teams/${team.id}/lines`, line);
  const { stations } = await client.get<{ stations: { id: string }[] }>(`${under}/lines/${made.id}`);
  for (const hook of hooksTo(receiver)) await client.post(`${under}/teams/${team.id}/hooks`, hook);
  return {
    workspaceId: workspace.id,
    teamId: team.id,
    lineId: made.id,
    workStationPath: `/api/teams/${team.id}/lines/${made.id}/stations/${stations[0]?.id}`,
    workCandidates: `${under}/lines/${made.id}/stations/${workStation.key}/replay-candidates`,
    poolToken: pool.headers.get("service-pool-token") ?? "",
    readToken: token.headers.get("service-workspace-token") ?? "",
  };
}

const runners = { pool: "local", labels: [] };
/** The station whose agents write notes. Its judge scores replays; reviews judge the tasks' own runs. */
export const workStation = {
  key: "work",
  name: "Write",
  kind: "work",
  harness: "command",
  prompt: "Write the note.",
  check: CHECK,
  judge: { rubric: "The note is listed in notes/INDEX.md." },
  passesTo: ["review"],
  runners,
};
const line = {
  key: "notes",
  name: "Notes",
  repositories: [{ name: "acme/project" }],
  source: CONFIG_SOURCE,
  replayCheck: { mostRegressions: 0, ceiling: 1, currency: "USD" },
  stations: [
    workStation,
    { key: "review", name: "Review", kind: "review", prompt: "Is it listed?", passesTo: ["work"], runners },
  ],
};

function hooksTo({ url, secret }: { readonly url: string; readonly secret: string }) {
  const request = { url: `${url}/hooks` };
  const signing = { secret, secretVersion: 1 };
  return [
    { key: "tell-moves", on: "task.moved", steps: [{ name: "tell", request }], signing },
    {
      key: "notes-name-files",
      on: "handover.giving",
      match: { lines: ["notes"], stations: ["work"] },
      steps: [{ name: "ask", request }],
      signing,
      failure: "block",
    },
  ];
}
