import { createHmac, randomBytes, randomUUID } from "node:crypto";
import { z } from "zod";
import {
  type ApiAnswer,
  type ApiRequest,
  type LoopbackApi,
  type SentDelivery,
  startLoopbackApi,
} from "./loopback-api.js";

/** An issue of the tracker. */
export interface TrackerIssue {
  readonly id: string;
  /** `ENG-12` */
  readonly identifier: string;
  readonly title: string;
  readonly description: string | null;
  readonly url: string;
  readonly assignee: { readonly name: string; readonly email: string } | null;
  state: TrackerState;
  labels: readonly TrackerLabel[];
  readonly comments: TrackerComment[];
}

interface TrackerState {
  readonly id: string;
  readonly name: string;
  readonly type: string;
}

interface TrackerLabel {
  readonly id: string;
  readonly name: string;
}

export interface TrackerComment {
  readonly id: string;
  readonly parentId: string | null;
  readonly body: string;
  /** The author's name. */
  readonly by: string;
}

/** The member in whose name the service acts in the tracker. */
const SERVICE = { id: "b5ea5f1f-8adc-4f52-b4bd-ab4e84cf51ba", name: "Signalbox", type: "user" };
const PERSON = { id: "49a5b8a2-1c39-4ed7-a25b-1f5ee3f4ff3b", name: "Ada", email: "ada@example.com", type: "user" };
const ORGANIZATION = "8a0f8b5e-6d8a-4f0d-8f0f-0d6f6c0d9b6b";
const WEBHOOK = "000042e3-d123-4980-b49f-8e140eef9329";
const UNSTARTED: TrackerState = { id: "8b11a5f0-6a70-4fc4-9d5b-5bd4d24f9d01", name: "Todo", type: "unstarted" };
export const trackerStates: readonly TrackerState[] = [
  UNSTARTED,
  { id: "8b11a5f0-6a70-4fc4-9d5b-5bd4d24f9d02", name: "In Progress", type: "started" },
  { id: "8b11a5f0-6a70-4fc4-9d5b-5bd4d24f9d03", name: "Done", type: "completed" },
];

const inputSchema = z.object({
  issueId: z.string().optional(),
  parentId: z.string().nullable().optional(),
  body: z.string().optional(),
  stateId: z.string().optional(),
});
const graphql = z.object({
  query: z.string(),
  variables: z.object({ id: z.string().optional(), input: inputSchema.optional() }),
});
type Input = z.output<typeof inputSchema>;
type NewIssue = Partial<Pick<TrackerIssue, "title" | "description" | "assignee">>;

/** A change in the tracker, and who made it. */
interface Change {
  readonly issue: TrackerIssue;
  readonly actor: { readonly name: string };
}

/**
 * A tracker on the loopback interface: the part of Linear's API and webhooks that the shipped integration uses. It
 * signs and delivers people's actions as Linear does. It also delivers changes that the service makes over the API.
 *
 * Each method for an action, except `open`, resolves with the answer to the action's delivery. It resolves with null if
 * there is no delivery address.
 */
export class Tracker {
  /** The API key of the member that the service acts as. */
  readonly key = `lin_api_${randomBytes(20).toString("hex")}`;
  /** The secret that signs deliveries. */
  readonly secret = `lin_wh_${randomBytes(20).toString("hex")}`;
  readonly issues = new Map<string, TrackerIssue>();
  readonly api: LoopbackApi;
  /** The address for deliveries; null to send none. */
  deliverTo: string | null = null;
  readonly #now: () => number;
  readonly #labels = new Map<string, TrackerLabel>();
  #last: readonly [headers: Readonly<Record<string, string>>, body: string] | null = null;

  private constructor(api: LoopbackApi, now: () => number) {
    this.api = api;
    this.#now = now;
  }

  /** Starts a tracker; `now` is the clock for its deliveries' timestamps. */
  static async start(now: () => number = Date.now): Promise<Tracker> {
    const made: Tracker[] = [];
    const api = await startLoopbackApi((request) => made[0]?.answer(request) ?? { status: 503 });
    const tracker = new Tracker(api, now);
    made.push(tracker);
    return tracker;
  }

  async open(
    { title = "It fails", description = null, assignee = null }: NewIssue = {},
    labels: readonly string[] = [],
  ): Promise<TrackerIssue> {
    const [id, identifier] = [randomUUID(), `ENG-${this.issues.size + 1}`];
    const url = `https://tracker.example.com/issue/${identifier}`;
    const named = labels.map((name) => this.#label(name));
    const issue = { id, identifier, title, description, url, assignee, state: UNSTARTED, labels: named, comments: [] };
    this.issues.set(id, issue);
    await this.#changed({ issue, actor: PERSON }, "create");
    return issue;
  }

  label(issue: TrackerIssue, name: string): Promise<SentDelivery | null> {
    const labelIds = issue.labels.map(({ id }) => id);
    issue.labels = [...issue.labels, this.#label(name)];
    return this.#changed({ issue, actor: PERSON }, "update", { labelIds });
  }

  comment(issue: TrackerIssue, body: string): Promise<SentDelivery | null> {
    return this.#say({ issue, actor: PERSON }, { body, parentId: null }).sent;
  }

  move(issue: TrackerIssue, name: string): Promise<SentDelivery | null> {
    const state = trackerStates.find((each) => each.name === name);
    if (state === undefined) throw new Error(`the tracker has no state ${name}`);
    return this.#move({ issue, actor: PERSON }, state);
  }

  /**
   * Sends the last delivery again, under the same id. Resolves with null if nothing was delivered yet, or if there is
   * no delivery address.
   */
  async repeat(): Promise<SentDelivery | null> {
    return this.#last === null ? null : this.#send(...this.#last);
  }

  answer({ method, path, headers, text }: ApiRequest): ApiAnswer {
    if (method !== "POST" || path !== "/graphql") return { status: 404, text: "Not found" };
    if (headers.authorization !== this.key) return { status: 401, json: failed("Authentication required") };
    const { query, variables } = graphql.parse(JSON.parse(text));
    const { id, input = {} } = variables;
    const named = id ?? input.issueId ?? "";
    const issue = this.issues.get(named) ?? [...this.issues.values()].find(({ identifier }) => identifier === named);
    if (issue === undefined) return { status: 200, json: failed("Entity not found: Issue") };
    if (query.includes("commentCreate(")) return this.#commentCreate(issue, input);
    if (query.includes("issueUpdate(")) return this.#issueUpdate(issue, input);
    const comments = { nodes: issue.comments.map(({ body, by }) => ({ body, user: { name: by } })) };
    const team = { states: { nodes: trackerStates } };
    return { status: 200, json: { data: { issue: { ...issue, team, comments } } } };
  }

  #commentCreate(issue: TrackerIssue, { body = "", parentId = null }: Input): ApiAnswer {
    const { comment, sent } = this.#say({ issue, actor: SERVICE }, { body, parentId });
    sent.catch(() => undefined);
    const shown = { id: comment.id, url: `${issue.url}#comment-${comment.id.slice(0, 8)}` };
    return { status: 200, json: { data: { commentCreate: { success: true, comment: shown } } } };
  }

  #issueUpdate(issue: TrackerIssue, { stateId }: Input): ApiAnswer {
    const state = trackerStates.find(({ id }) => id === stateId);
    if (state === undefined) return { status: 200, json: failed("Entity not found: WorkflowState") };
    this.#move({ issue, actor: SERVICE }, state).catch(() => undefined);
    return { status: 200, json: { data: { issueUpdate: { success: true, issue: { state } } } } };
  }

  #move({ issue, actor }: Change, state: TrackerState): Promise<SentDelivery | null> {
    const stateId = issue.state.id;
    issue.state = state;
    return this.#changed({ issue, actor }, "update", { stateId });
  }

  #say({ issue, actor }: Change, { body, parentId }: { readonly body: string; readonly parentId: string | null }) {
    const comment = { id: randomUUID(), by: actor.name, body, parentId };
    issue.comments.push(comment);
    const { id, identifier, title } = issue;
    const data = { id: comment.id, body, issueId: id, issue: { id, identifier, title }, user: actor };
    return { comment, sent: this.#deliver({ type: "Comment", action: "create", actor, url: issue.url, data }) };
  }

  #changed({ issue, actor }: Change, action: string, updatedFrom?: object): Promise<SentDelivery | null> {
    const { comments: _, ...shown } = issue;
    const data = { ...shown, stateId: issue.state.id, labelIds: issue.labels.map(({ id }) => id) };
    return this.#deliver({ type: "Issue", action, actor, url: issue.url, data, ...(updatedFrom && { updatedFrom }) });
  }

  /**
   * Sends a signed delivery, with a new id and the current time. Resolves with null if there is no delivery address.
   */
  #deliver(change: Readonly<Record<string, unknown>> & { readonly type: string }): Promise<SentDelivery | null> {
    const at = this.#now();
    const from = { organizationId: ORGANIZATION, webhookTimestamp: at, webhookId: WEBHOOK };
    const body = JSON.stringify({ ...change, createdAt: new Date(at).toISOString(), ...from });
    const signature = createHmac("sha256", this.secret).update(body).digest("hex");
    const id = randomUUID();
    return this.#send({ "linear-signature": signature, "linear-delivery": id, "linear-event": change.type }, body);
  }

  async #send(headers: Readonly<Record<string, string>>, body: string): Promise<SentDelivery | null> {
    this.#last = [headers, body];
    return this.deliverTo === null ? null : this.api.deliver(this.deliverTo, headers, body);
  }

  #label(name: string): TrackerLabel {
    const label = this.#labels.get(name) ?? { id: randomUUID(), name };
    this.#labels.set(name, label);
    return label;
  }
}

function failed(message: string): object {
  return { data: null, errors: [{ message }] };
}
