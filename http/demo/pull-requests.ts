import type { Client, Schema } from "../client/entry.js";
import type { CodeHost } from "./code-host/code-host.js";
import type { HostedAccount } from "./code-host/hosted-account.js";
import type { HostedPull } from "./code-host/hosted-pulls.js";
import type { Configured } from "./configuration.js";
import { line } from "./progress.js";
import { until } from "./until.js";

/**
 * In this part of the demo, a task's change becomes a pull request at the code host and is reviewed and merged there.
 * The service receives the events.
 */

/** The repository that the demo's agents work on. */
export const REPOSITORY = "acme/project";
/** The organization that installed the app. Below it, the organization's admin at the code host. */
const ORGANIZATION: HostedAccount = { id: 9_001, login: "acme", type: "Organization" };
const adaThere: HostedAccount = { id: 9_002, login: "ada-there", type: "User" };
const INSTALLATION = { id: 7, account: ORGANIZATION, suspended_at: null, updated_at: "2026-09-01T10:00:00Z" };

/**
 * Installs the app for repositories of the code host, and connects the workspace to the installation, as an admin does
 * in a browser.
 */
export async function connectCodeHost(
  client: Client,
  codeHost: CodeHost,
  { baseUrl, repositories }: { readonly baseUrl: string; readonly repositories: readonly string[] },
): Promise<void> {
  codeHost.installations.set(INSTALLATION.id, INSTALLATION);
  codeHost.memberships.set(`${ORGANIZATION.login}/${adaThere.login}`, { state: "active", role: "admin" });
  codeHost.repositories.set(INSTALLATION.id, repositories);
  codeHost.hooks.url = `${baseUrl}/api/code-host/deliveries`;
  codeHost.work.tell = (event) => void codeHost.hooks.send(event);
  const { url } = await client.post("/api/workspaces/{slug}/code-host/connections", {
    path: { slug: "acme" },
    body: { installationId: INSTALLATION.id },
  });
  const back = await codeHost.signIn(url, adaThere);
  await client.send("post", "/api/code-host/confirmations", { body: Object.fromEntries(back) });
  line(
    "pull",
    `the workspace is connected to the code host ${codeHost.name}; its app can access ${repositories.join(", ")}`,
  );
}

/**
 * Reviews and merges the pull request of a task at the code host, and prints the progress. Returns whether the progress
 * is as expected.
 */
export async function showPullRequest(
  client: Client,
  { teamId }: Configured,
  { codeHost, taskId }: { readonly codeHost: CodeHost; readonly taskId: string },
  signal: AbortSignal,
): Promise<boolean> {
  const read = () => client.get("/api/tasks/{taskId}", { path: { taskId } });
  const isPull = (wanted: string) => async () => {
    const { state } = (await read()).pullRequest ?? { state: "not there" };
    return state === wanted ? null : `the pull request is ${state}`;
  };
  await until("the pull request of the issue's task", isPull("open"), signal);
  const { id = "", url } = (await read()).pullRequest ?? {};
  const pull = codeHost.work.pulls.find(({ number }) => url?.endsWith(`/pull/${number}`));
  if (pull === undefined) return false;
  const readPull = () => client.get("/api/pull-requests/{id}", { path: { id } });
  line("pull", `its runner pushed ${pull.head}; the service opened #${pull.number} "${pull.title}": ${url}`);
  line("pull", `it changes ${(await readPull()).changed.join(", ")}`);
  await codeHost.work.review(pull, { state: "APPROVED", body: "Well said.", by: adaThere });
  const isReviewed = async () => {
    const { rounds } = await readPull();
    return rounds === 1 ? null : `the pull request has ${rounds} reviews`;
  };
  await until("the review of the pull request", isReviewed, signal);
  line("pull", `${adaThere.login} reviewed it at the code host, and merges it`);
  if ((await codeHost.work.merge(pull, adaThere)) === null) return false;
  await until("the merge of the pull request", isPull("merged"), signal);
  const { marks } = await read();
  line("pull", `the code host reports the merge; marks of the task: ${Object.keys(marks).sort().join(", ")}`);
  await showEvent(client, teamId, signal);
  return showFact(pull, await readPull());
}

/** Waits for the event of the merge, and prints it. */
async function showEvent(client: Client, teamId: string, signal: AbortSignal): Promise<void> {
  const read = async () => (await client.get("/api/teams/{teamId}/events", { path: { teamId } })).items;
  const isMerge = ({ on }: { readonly on: string }) => on === "pull-request.merged";
  const missing = async () => {
    const items = await read();
    return items.some(isMerge) ? null : `waiting for the merge event after ${items.length} other events`;
  };
  await until("the event of the merge", missing, signal);
  line("event", `pull-request.merged: ${(await read()).find(isMerge)?.event.url}`);
}

/**
 * Prints the times at which the pull request was opened, reviewed and merged, and its number of review rounds. Returns
 * whether these are as expected.
 */
function showFact(
  pull: HostedPull,
  { rounds, openedAt, firstReviewAt, mergedAt, state }: Schema<"PullRequest">,
): boolean {
  const times = `opened ${openedAt}, first review ${firstReviewAt}, merged ${mergedAt}`;
  line("fact", `#${pull.number}: ${times}, ${rounds} review round`);
  return state === "merged" && firstReviewAt !== null && mergedAt === pull.merged_at?.replace("Z", ".000Z");
}
