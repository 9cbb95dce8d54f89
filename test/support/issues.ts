import { createHmac, randomBytes, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { z } from "zod";
import {
  type ApiAnswer,
  type ApiRequest,
  type LoopbackApi,
  type SentDelivery,
  startLoopbackApi,
} from "../../http/demo/loopback-api.js";
import type { Cleaning } from "./service.js";

/** An issue of the repository. */
export interface HostedIssue {
  readonly number: number;
  readonly title: string;
  readonly body: string | null;
  state: "open" | "closed";
  labels: readonly string[];
  updatedAt: string;
  readonly comments: { readonly by: string; readonly body: string }[];
}

/**
 * A code host's issues on the loopback interface: the part of GitHub's API and webhooks that the shipped integration
 * uses.
 */
export interface Issues {
  readonly api: LoopbackApi;
  readonly token: string;
  readonly secret: string;
  readonly issues: ReadonlyMap<number, HostedIssue>;
  /** Sets the address for further deliveries; null stops them. */
  deliverTo(address: string | null): void;
  /** Returns an issue's address in the API. */
  toUrl(issue: HostedIssue): string;
  /** Opens an issue as a person; resolves with the answers to its deliveries. */
  open(
    title: string,
    labels?: readonly string[],
  ): Promise<{ readonly issue: HostedIssue; readonly sent: readonly SentDelivery[] }>;
  label(issue: HostedIssue, name: string): Promise<readonly SentDelivery[]>;
  comment(issue: HostedIssue, body: string): Promise<readonly SentDelivery[]>;
  close(issue: HostedIssue): Promise<readonly SentDelivery[]>;
}

/** The repository that the shipped definition polls. */
const REPOSITORY = "octo-org/octo-repo";

const examples = z.array(z.object({ name: z.string(), examples: z.array(z.record(z.string(), z.unknown())) }));
const recorded = z.looseObject({
  issue: z.record(z.string(), z.unknown()),
  label: z.record(z.string(), z.unknown()).optional(),
});

/** Returns one of the code host's own sample payloads. */
function recordedPayload(event: string, action: string) {
  const path = createRequire(import.meta.url).resolve("@octokit/webhooks-examples/api.github.com/index.json");
  const found = examples
    .parse(JSON.parse(readFileSync(path, "utf8")))
    .find(({ name }) => name === event)
    ?.examples.find((each) => each.action === action);
  return recorded.parse(found);
}

const payloads = {
  opened: recordedPayload("issues", "opened"),
  labeled: recordedPayload("issues", "labeled"),
  commented: recordedPayload("issue_comment", "created"),
};

/** Starts the code host's issues; `now` is the clock for the timestamps of issues and deliveries. */
export async function startIssues(t: Cleaning, now: () => number = Date.now): Promise<Issues> {
  const token = `github_pat_${randomBytes(20).toString("hex")}`;
  const secret = randomBytes(20).toString("hex");
  const issues = new Map<number, HostedIssue>();
  let address: string | null = null;
  const at = () => new Date(now()).toISOString().replace(/\.\d+Z$/, "Z");

  const shown = (issue: HostedIssue) => ({
    ...payloads.opened.issue,
    number: issue.number,
    title: issue.title,
    body: issue.body,
    state: issue.state,
    updated_at: issue.updatedAt,
    url: toUrl(issue),
    comments_url: `${toUrl(issue)}/comments`,
    labels: issue.labels.map((name) => ({ name })),
    html_url: `https://code.example.com/${REPOSITORY}/issues/${issue.number}`,
  });
  const deliver = async (event: string, payload: object): Promise<readonly SentDelivery[]> => {
    if (address === null) return [];
    const body = JSON.stringify(payload);
    const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
    const headers = { "x-github-event": event, "x-github-delivery": randomUUID(), "x-hub-signature-256": signature };
    return [await api.deliver(address, headers, body)];
  };
  const changed = (issue: HostedIssue, action: string, more: object = {}) =>
    deliver("issues", { ...payloads.labeled, label: undefined, action, issue: shown(issue), ...more });
  const labelled = (issue: HostedIssue, name: string) =>
    changed(issue, "labeled", { label: { ...payloads.labeled.label, name } });
  const say = (issue: HostedIssue, by: string, body: string) => {
    issue.comments.push({ by, body });
    issue.updatedAt = at();
    const comment = { body, user: { login: by }, html_url: `${toUrl(issue)}#issuecomment-${issue.comments.length}` };
    const sent = deliver("issue_comment", { ...payloads.commented, action: "created", issue: shown(issue), comment });
    return { comment, sent };
  };
  const ofIssue = ({ method, text }: ApiRequest, issue: HostedIssue, rest: string): ApiAnswer => {
    const json: Readonly<Record<string, unknown>> = text === "" ? {} : JSON.parse(text);
    if (method === "GET" && rest === "") return { status: 200, json: shown(issue) };
    if (method === "PATCH" && rest === "" && json.state === "closed") {
      issue.state = "closed";
      changed(issue, "closed").catch(() => undefined);
      return { status: 200, json: shown(issue) };
    }
    if (rest === "/comments" && method === "GET") {
      const list = issue.comments.map(({ by, body }) => ({ user: { login: by }, body, created_at: issue.updatedAt }));
      return { status: 200, json: list };
    }
    if (rest === "/comments" && method === "POST") {
      const { comment, sent } = say(issue, "signalbox-writer", String(json.body));
      sent.catch(() => undefined);
      return { status: 201, json: comment };
    }
    const name = /^\/labels\/(.+)$/.exec(rest)?.[1];
    if (method !== "DELETE" || name === undefined) return { status: 404, json: { message: "Not Found" } };
    if (!issue.labels.includes(name)) return { status: 404, json: { message: "Label does not exist" } };
    issue.labels = issue.labels.filter((each) => each !== name);
    return { status: 200, json: issue.labels.map((each) => ({ name: each })) };
  };
  const list = (query: URLSearchParams): ApiAnswer => {
    const since = query.get("since") ?? "";
    if (!/^\d{4}-/.test(since)) return { status: 422, json: { message: "Validation Failed" } };
    const found = [...issues.values()]
      .filter(
        ({ state, labels, updatedAt }) =>
          state === query.get("state") && updatedAt >= since && labels.includes(query.get("labels") ?? ""),
      )
      .sort((left, right) => left.updatedAt.localeCompare(right.updatedAt));
    return { status: 200, json: found.map(shown) };
  };
  const answer = (request: ApiRequest): ApiAnswer => {
    if (request.headers.authorization !== `Bearer ${token}`)
      return { status: 401, json: { message: "Bad credentials" } };
    const [, number, rest = ""] =
      new RegExp(`^/repos/${REPOSITORY}/issues(?:/(\\d+)(/.*)?)?$`).exec(request.path) ?? [];
    if (number === undefined) return request.path.endsWith("/issues") ? list(request.query) : { status: 404, json: {} };
    const issue = issues.get(Number(number));
    return issue === undefined ? { status: 404, json: { message: "Not Found" } } : ofIssue(request, issue, rest);
  };
  const api = await startLoopbackApi(answer);
  t.teardown(() => api.close());
  const toUrl = ({ number }: HostedIssue) => `${api.url}/repos/${REPOSITORY}/issues/${number}`;
  const label = (issue: HostedIssue, name: string) => {
    issue.labels = [...issue.labels, name];
    issue.updatedAt = at();
    return labelled(issue, name);
  };
  return {
    api,
    token,
    secret,
    issues,
    toUrl,
    label,
    deliverTo: (to) => {
      address = to;
    },
    open: async (title, labels = []) => {
      const about = { number: issues.size + 1, title, body: "It fails.", labels, comments: [] };
      const issue: HostedIssue = { ...about, state: "open", updatedAt: at() };
      issues.set(issue.number, issue);
      const sent = [...(await changed(issue, "opened"))];
      // For an issue opened with labels, the host sends one event for opening and one for each label.
      for (const name of labels) sent.push(...(await labelled(issue, name)));
      return { issue, sent };
    },
    comment: (issue, body) => say(issue, "ada", body).sent,
    close: (issue) => {
      issue.state = "closed";
      return changed(issue, "closed");
    },
  };
}
