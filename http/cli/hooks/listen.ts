import { listAll } from "../../client/entry.js";
import type { CommonOptions, Context } from "../command/context.js";
import { type ExitCode, exitCodes } from "../command/exit-codes.js";
import { takeItems } from "../command/list-limit.js";
import type { NamedTeam } from "../command/names.js";
import { toJson, toLine } from "../command/printable.js";
import { toTimestamp } from "../command/time-text.js";
import { openTopics, type Topics } from "../command/topics.js";
import { createSecret, type Forwardable, forward, toForwardable, toSecret, toTarget } from "./forwarding.js";
import { type Firing, findHook, readFiring } from "./hook-names.js";

interface ListenOptions extends CommonOptions {
  readonly forward: string;
  readonly hook?: string;
  readonly secret?: string;
  /** How many of the latest firings to forward first. */
  readonly last?: number;
  /** Ends after this many forwarded requests. */
  readonly limit?: number;
}

/** Maximum number of firings to read after missed messages. */
const MAX_MISSED = 1_000;
/** Maximum number of requests that are remembered, so that none is forwarded twice. */
const MAX_REMEMBERED = 10_000;

/**
 * Forwards the requests of firings to another address, until the person interrupts the command or `limit` requests have
 * been forwarded.
 */
export async function listen(context: Context, options: ListenOptions): Promise<ExitCode> {
  const target = toTarget(options.forward);
  const secret = options.secret === undefined ? createSecret() : toSecret(options.secret);
  const { teams, hook } = await findSources(context, options);
  const topics = openTopics(context);
  const listener = new Listener(context, { target, secret, hook, limit: options.limit ?? Number.POSITIVE_INFINITY });
  try {
    await subscribe(topics, teams);
    introduce(context, { target, secret, teams });
    for (const team of teams) await listener.start(team, options.last ?? 0);
    while (!listener.isDone) {
      const { topic, kind, data } = await topics.next();
      const team = teams.find(({ id }) => topic === `team/${id}`);
      if (team === undefined) continue;
      if (kind === "error") context.terminal.note(`cannot read the hooks of the team ${team.key}`);
      else if (kind === "change") await listener.read(team, data);
      else await listener.catchUp(team);
    }
    return exitCodes.done;
  } catch (error) {
    if (!context.signal.aborted) throw error;
    context.terminal.note(`forwarded ${listener.count} ${listener.count === 1 ? "request" : "requests"}`);
    return exitCodes.interrupted;
  } finally {
    topics.close();
  }
}

/** Finds the teams to listen to: the team of the named hook, the team of `--team`, or all teams of the workspace. */
async function findSources(
  context: Context,
  { hook: name, team }: ListenOptions,
): Promise<{ readonly teams: readonly NamedTeam[]; readonly hook: string | null }> {
  const { client, names, signal } = context;
  if (name !== undefined) {
    const found = await findHook(context, name);
    return { teams: [found.team], hook: found.hook.key };
  }
  if (team !== undefined) return { teams: [await names.team()], hook: null };
  const workspace = await names.workspace();
  const path = { workspaceId: workspace.id };
  const { items } = await client.get("/api/resources/workspaces/{workspaceId}/teams", { path, signal });
  return { teams: items.map(({ id, key }) => ({ id, key, workspace })), hook: null };
}

/**
 * Subscribes to the teams' topics. Resolves when the service has sent a first message for each team. From then on, the
 * service announces all firings of these teams.
 */
async function subscribe(topics: Topics, teams: readonly NamedTeam[]): Promise<void> {
  for (const { id } of teams) topics.subscribe(`team/${id}`);
  const open = new Set(teams.map(({ id }) => `team/${id}`));
  while (open.size > 0) open.delete((await topics.next()).topic);
}

/** Prints where requests go, and the secret that signs them. Programs read the secret from standard error. */
function introduce(
  { isJson, terminal }: Context,
  { target, secret, teams }: { readonly target: string; readonly secret: string; readonly teams: readonly NamedTeam[] },
): void {
  const of = teams.map(({ key, workspace }) => `${workspace.slug}/${key}`);
  if (isJson) return terminal.note(toJson({ forward: target, secret, teams: of }));
  terminal.print(`forwarding the hooks of ${of.join(", ")} to ${target}`);
  terminal.print(`signing secret: ${secret}`);
}

interface ListenerOptions {
  readonly target: string;
  readonly secret: string;
  /** The key of the only hook to forward; null for all. */
  readonly hook: string | null;
  readonly limit: number;
}

/** Forwards the requests of firings, each once. */
class Listener {
  readonly #context: Context;
  readonly #options: ListenerOptions;
  readonly #seen = new Set<string>();
  /**
   * The id of each team's newest firing when the command started to listen to the team, by team id. Undefined if the
   * team had no firing then.
   */
  readonly #floors = new Map<string, string | undefined>();
  /** The number of forwarded requests. */
  count = 0;

  constructor(context: Context, options: ListenerOptions) {
    this.#context = context;
    this.#options = options;
  }

  get isDone(): boolean {
    return this.count >= this.#options.limit;
  }

  /**
   * Starts to listen to a team: stores the id of the team's newest firing, and forwards the team's latest `last`
   * firings.
   */
  async start(team: NamedTeam, last: number): Promise<void> {
    const { items } = await this.#list(team, Math.max(last, 1));
    this.#floors.set(team.id, items[0]?.id);
    for (const firing of items.slice(0, last).reverse()) await this.#take(firing);
  }

  /** Reads a change message of a team, and forwards the firing that the message announces. */
  async read(team: NamedTeam, data: unknown): Promise<void> {
    const { type, id } = data as { readonly type?: string; readonly id?: string };
    if (type !== "hook" || id === undefined) return;
    const firing = await readFiring(this.#context, team, id);
    if (firing !== null) await this.#take(firing);
  }

  /** Forwards the firings since the start that were not forwarded yet. Call it when messages may have been missed. */
  async catchUp(team: NamedTeam): Promise<void> {
    const floor = this.#floors.get(team.id);
    const { items } = await this.#list(team, MAX_MISSED, floor);
    for (const firing of [...items].reverse()) await this.#take(firing);
  }

  /**
   * Lists at most `limit` of the latest firings, newest first. With `floor`, lists only firings that are newer than the
   * firing with this id.
   */
  async #list(team: NamedTeam, limit: number, floor?: string): Promise<{ readonly items: readonly Firing[] }> {
    const { client, signal } = this.#context;
    const { hook } = this.#options;
    const all = listAll(client, "/api/teams/{teamId}/hook-occurrences", "before", {
      path: { teamId: team.id },
      query: { limit: Math.min(limit, 200), ...(hook === null ? {} : { hook }) },
      signal,
    });
    return await takeItems(floor === undefined ? all : until(all, floor), limit);
  }

  /** For each step of a firing, forwards the request of the first attempt. Skips steps that were handled before. */
  async #take(firing: Firing): Promise<void> {
    const { hook } = this.#options;
    if (hook !== null && firing.hook !== hook) return;
    for (const attempt of firing.attempts) {
      const key = `${firing.id} ${attempt.step}`;
      if (this.isDone || this.#seen.has(key)) continue;
      this.#remember(key);
      const request = toForwardable(attempt);
      if (typeof request === "string")
        this.#context.terminal.note(toLine(`${describe(firing)} not forwarded: ${request}`));
      else await this.#forward(firing, request);
    }
  }

  #remember(key: string): void {
    this.#seen.add(key);
    const [oldest] = this.#seen;
    if (this.#seen.size > MAX_REMEMBERED && oldest !== undefined) this.#seen.delete(oldest);
  }

  async #forward(firing: Firing, request: Forwardable): Promise<void> {
    const { terminal, isJson, signal } = this.#context;
    const { status, error } = await forward(request, { ...this.#options, signal });
    this.count += 1;
    const { id, hook, on, taskId } = firing;
    if (isJson) {
      const { step, id: webhookId } = request;
      return terminal.print(toJson({ firing: id, hook, on, taskId, step, webhookId, status, error }));
    }
    const isOk = status !== null && status < 400;
    const outcome = status === null ? `no answer: ${error}` : `answered ${status}`;
    terminal.print(`${toLine(describe(firing))} ${terminal.paint(isOk ? "green" : "red", toLine(outcome))}`);
  }
}

function describe({ firedAt, hook, on, taskId }: Firing): string {
  return `${toTimestamp(firedAt)}  ${hook}  ${on}  ${taskId ?? "test"} `;
}

/** Yields the firings that are newer than the firing with the id `floor`. */
async function* until(firings: AsyncIterable<Firing>, floor: string): AsyncGenerator<Firing> {
  for await (const firing of firings) {
    if (firing.id <= floor) return;
    yield firing;
  }
}
