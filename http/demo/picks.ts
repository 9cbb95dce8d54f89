import type { Client } from "../client/entry.js";
import type { CodeHost } from "./code-host/code-host.js";
import { CONFIG_SOURCE, type Configured } from "./configuration.js";
import { line } from "./progress.js";
import { until } from "./until.js";

/**
 * In this part, the demo picks the best candidate of a search. A repository contains the workspace's config as HCL, in
 * the same form as the export. The pull request makes the candidate's changes in that repository.
 */

/** Maximum number of diff lines to print. */
const MAX_LINES = 40;

/** Writes the workspace's export into its config repository. */
export async function writeConfig(client: Client, { workspaceId }: Configured, codeHost: CodeHost): Promise<void> {
  const { files } = await client.get("/api/resources/workspaces/{id}/export", { path: { id: workspaceId } });
  const written = Object.fromEntries(files.map(({ path, content }) => [path, content]));
  await codeHost.work.addRepository(CONFIG_SOURCE.repository, written);
  const { repository, path } = CONFIG_SOURCE;
  line("pick", `the workspace's config is in ${repository}; the line names the file ${path} there as its source`);
}

/**
 * Picks a candidate, and prints the pull request with the candidate's changes. Returns whether the pull request is as
 * expected.
 */
export async function showPick(
  client: Client,
  { teamId }: Configured,
  { codeHost, searchId, candidateId }: { codeHost: CodeHost; searchId: string; candidateId: string },
  signal: AbortSignal,
): Promise<boolean> {
  const picked = await client.post("/api/teams/{teamId}/searches/{searchId}/candidates/{candidateId}/pick", {
    path: { teamId, searchId, candidateId },
  });
  const read = () =>
    client.get("/api/teams/{teamId}/config-pull-requests/{pullRequestId}", {
      path: { teamId, pullRequestId: picked.id },
    });
  const isOpened = async () => ((await read()).state === "opening" ? "the config pull request is opening" : null);
  await until("the config pull request", isOpened, signal);
  const { state, url, branch, reason } = await read();
  const repository = codeHost.work.repositories.get(CONFIG_SOURCE.repository);
  const pull = codeHost.work.pulls.find(({ head }) => head === branch);
  if (state !== "opened" || repository === undefined || pull === undefined) {
    line("pick", `it is ${state}: ${reason?.code} ${reason?.message}`);
    return false;
  }
  line("pick", `Ada picks the best candidate; the service opened "${pull.title}": ${url}`);
  for (const text of toSummaryLines(pull.body ?? "")) line("pick", text);
  const diff = await repository.git("diff", `${repository.defaultBranch}...${branch}`);
  for (const text of diff.split("\n").slice(0, MAX_LINES)) line("diff", text);
  return (await repository.commits(repository.defaultBranch, branch)).length === 1;
}

/** Returns the lines about gains and regressions. */
function toSummaryLines(body: string): readonly string[] {
  const lines = body.split("\n").map((text) => text.replaceAll("**", ""));
  return lines.filter((text) => /^- (?!\[)|^### What got worse/.test(text)).map((text) => text.replace(/^(-|#+) /, ""));
}
