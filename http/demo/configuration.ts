import { fileURLToPath } from "node:url";
import type { Client, Schema } from "../client/entry.js";

/** Checks that every note starts with a title. */
const CHECK =
  'for note in notes/*.md; do case "$note" in */INDEX.md) ;; *) head -1 "$note" | grep -q "^# " || exit 1;; esac; done';

const PROPOSER = fileURLToPath(new URL("proposer.js", import.meta.url));
/** A prompt with which agents do better than with the live prompt. */
export const BETTER_PROMPT = "Write the note, and list it in notes/INDEX.md.";

/** The repository and the file that contain the line's config, in the format of the workspace's export. */
export const CONFIG_SOURCE = { repository: "acme/config", path: "main.tf" };

/** The demo's team, with tokens for it. */
export interface Configured {
  readonly workspaceId: string;
  readonly teamId: string;
  readonly lineId: string;
  /** The station whose agents write notes. */
  readonly stationId: string;
  /** The runner's token. */
  readonly poolToken: string;
  /** A token with the scope `read`, for exploring. */
  readonly readToken: string;
}

/** Creates the demo's workspace, with a line of two stations, and with two hooks that send requests to the receiver. */
export async function configure(
  client: Client,
  receiver: { readonly url: string; readonly secret: string },
): Promise<Configured> {
  const workspace = await client.post("/api/resources/workspaces", { body: { slug: "acme", name: "Acme" } });
  const inWorkspace = { workspaceId: workspace.id };
  const team = await client.post("/api/resources/workspaces/{workspaceId}/teams", {
    path: inWorkspace,
    body: { key: "docs", name: "Docs" },
  });
  const inTeam = { teamId: team.id };
  await client.post("/api/resources/workspaces/{workspaceId}/secrets", {
    path: inWorkspace,
    body: { name: "model-key", value: "a key that no agent of the demo needs", valueVersion: 1 },
  });
  // The team's only profile for this harness. Search agents use it; the stations name no profile.
  await client.post("/api/resources/teams/{teamId}/harness-profiles", {
    path: inTeam,
    body: {
      key: "proposer",
      harness: workStation.harness,
      args: [process.execPath, PROPOSER, BETTER_PROMPT],
    },
  });
  // Tokens are in a header of the response.
  const pool = await client.send("post", "/api/resources/workspaces/{workspaceId}/runner-pools", {
    path: inWorkspace,
    body: { key: "local" },
  });
  const token = await client.send("post", "/api/resources/workspaces/{workspaceId}/tokens", {
    path: inWorkspace,
    body: { name: "look-around", scopes: ["read"] },
  });
  const made = await client.post("/api/resources/teams/{teamId}/lines", { path: inTeam, body: line });
  for (const hook of hooksTo(receiver)) {
    await client.post("/api/resources/teams/{teamId}/hooks", { path: inTeam, body: hook });
  }
  return {
    workspaceId: workspace.id,
    teamId: team.id,
    lineId: made.id,
    stationId: made.stations[0]?.id ?? "",
    poolToken: pool.headers.get("service-pool-token") ?? "",
    readToken: token.headers.get("service-workspace-token") ?? "",
  };
}

const runners = { pool: "local", labels: [] };
/** The station whose agents write notes. Its judge scores only replays: tasks themselves are judged by review. */
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
} satisfies Schema<"LineInput">["stations"][number];
const line: Schema<"LineInput"> = {
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

function hooksTo({ url, secret }: { readonly url: string; readonly secret: string }): readonly Schema<"HookInput">[] {
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
