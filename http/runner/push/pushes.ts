/**
 * The pushes of one run.
 *
 * 1. Each push sends a snapshot that the runner took before it asked the service: when the agent requested a pull
 *    request, or at the run's end.
 * 2. The runner processes one order per repository at a time, in order of arrival. It answers each order once.
 * 3. A token stays in memory only, and is dropped with its order.
 */

import type { RunnerMessage } from "../../../actors/runners/protocol.js";
import {
  MAX_BODY_CHARACTERS,
  MAX_TITLE_CHARACTERS,
  MAX_WHY_CHARACTERS,
  type PullRequestAnswered,
  type PushOrder,
  type PushProblem,
} from "../../../actors/runners/push.js";
import type { Clock } from "../../../runtime/clock.js";
import { GitFailed, OutputTooLong } from "../checkout/git.js";
import { errorMessage } from "../job-failed.js";
import { withinLimit } from "../process/time-limit.js";
import { type Agreed, pushSnapshot } from "./push-branch.js";
import { NoCheckout, type PushSite, type Snapshot, takeSnapshot } from "./push-site.js";

/** An agent's request for a pull request. */
export interface PullRequestFields {
  /** The repository's name; null for the run's only repository. */
  readonly repository: string | null;
  readonly title: string;
  readonly body: string;
}

/** The service's answer: the address of the pull request, or the reason why there is none. */
export type PullRequestResult = { readonly url: string } | { readonly refused: string };

/** The service's messages about pushes: an order, or the answer to an agent's request for a pull request. */
export type PushMessage = PushOrder | PullRequestAnswered;

export interface PushesOptions {
  readonly claim: { readonly runId: string; readonly fence: number };
  readonly clock: Clock;
  readonly mask: (text: string) => string;
  readonly send: (message: RunnerMessage) => void;
  /** Kills git when aborted. */
  readonly signal: AbortSignal;
}

/** Time limit of one push or one snapshot, in milliseconds. */
const LIMIT_MS = 10 * 60 * 1_000;
/** Maximum number of a run's unanswered `run.pull-request` messages. */
const MAX_WISHES = 5;

const OVER = "The run is over.";

interface Pushed {
  readonly site: PushSite;
  readonly snapshots: Map<string | null, Snapshot>;
  agreed: Agreed;
  /** Resolves when the work that was started so far for this repository is done. */
  busy: Promise<void>;
}

/** The pushes of one run. See the rules in this file's header. */
export class Pushes {
  readonly #options: PushesOptions;
  readonly #repositories = new Map<string, Pushed>();
  readonly #wishes = new Map<string, (result: PullRequestResult) => void>();
  #asked = 0;
  #isClosed = false;

  constructor(options: PushesOptions) {
    this.#options = options;
  }

  /** Registers a checkout from which the runner can push. */
  add(site: PushSite): void {
    const { checkout } = site;
    const agreed = { head: checkout.base, tree: site.begun, merged: checkout.merged?.commit ?? null };
    this.#repositories.set(checkout.repository, { site, agreed, snapshots: new Map(), busy: Promise.resolve() });
  }

  /** Requests a pull request for the agent's changes so far. */
  async wish({ repository, title, body }: PullRequestFields): Promise<PullRequestResult> {
    const { claim, mask, send } = this.#options;
    if (this.#isClosed) return { refused: OVER };
    const names = [...this.#repositories.keys()];
    const name = repository ?? (names.length === 1 ? (names[0] ?? "") : "");
    const found = this.#repositories.get(name);
    if (found === undefined) return { refused: `Name one of the run's repositories: ${names.join(", ")}.` };
    if (title.trim() === "") return { refused: "A pull request needs a title." };
    if (this.#wishes.size >= MAX_WISHES) return { refused: "Wait for the answers to what you asked for before." };
    this.#asked += 1;
    const id = `${claim.fence}-${this.#asked}`;
    const answered = new Promise<PullRequestResult>((resolve) => this.#wishes.set(id, resolve));
    try {
      const snapshot = await this.#limited((signal) => takeSnapshot(found.site, { signal }));
      found.snapshots.set(id, snapshot);
      const subject = mask(title.trim().replace(/\s+/g, " ")).slice(0, MAX_TITLE_CHARACTERS);
      const text = mask(body).slice(0, MAX_BODY_CHARACTERS);
      const changed = [...snapshot.changed];
      send({ type: "run.pull-request", ...claim, id, repository: name, title: subject, body: text, changed });
    } catch (error) {
      this.#answer(id, { refused: mask(toReason(error)) });
    }
    return answered;
  }

  take(message: PushMessage): void {
    if (message.type === "run.push") return this.#takeOrder(message);
    const { id, url, refused } = message;
    this.#answer(id, url === null ? { refused: refused ?? "There is no pull request." } : { url });
  }

  /**
   * Stores the snapshots that the runner took at the end of the run, by repository. Rejects open requests. An
   * unreadable checkout has no snapshot.
   */
  keep(taken: ReadonlyMap<string, Snapshot>): void {
    this.#close();
    for (const [name, snapshot] of taken) this.#repositories.get(name)?.snapshots.set(null, snapshot);
  }

  #takeOrder(order: PushOrder): void {
    const found = this.#repositories.get(order.repository);
    if (found === undefined)
      return this.#reject(order, "failed", `${order.repository} is not a repository of the run.`);
    const work = found.busy.then(() => this.#push(order, found));
    found.busy = work.catch((error: unknown) => this.#reject(order, "failed", toReason(error)));
  }

  async #push(order: PushOrder, found: Pushed): Promise<void> {
    const snapshot = found.snapshots.get(order.wish);
    if (snapshot === undefined) return this.#reject(order, "failed", "The changes to push could not be read.");
    const { claim, clock, send } = this.#options;
    const result = await this.#limited((signal) =>
      pushSnapshot(order, snapshot, { site: found.site.folder, agreed: found.agreed, now: clock.now(), signal }),
    );
    if ("problem" in result) return this.#reject(order, result.problem, result.why, result.head);
    found.agreed = result.agreed;
    const { id, repository } = order;
    send({ type: "run.pushed", ...claim, id, repository, head: result.head, changed: [...snapshot.changed] });
  }

  #reject({ id, repository, token }: PushOrder, problem: PushProblem, why: string, head?: string): void {
    const { claim, mask, send } = this.#options;
    const text = mask(token === null ? why : why.replaceAll(token, "***")).slice(0, MAX_WHY_CHARACTERS);
    send({
      type: "run.push-rejected",
      ...claim,
      id,
      repository,
      problem,
      why: text,
      ...(head !== undefined && { head }),
    });
  }

  #answer(id: string, result: PullRequestResult): void {
    this.#wishes.get(id)?.(result);
    this.#wishes.delete(id);
  }

  #close(): void {
    this.#isClosed = true;
    for (const id of [...this.#wishes.keys()]) this.#answer(id, { refused: OVER });
  }

  #limited<Done>(work: (signal: AbortSignal) => Promise<Done>): Promise<Done> {
    return withinLimit(this.#options, LIMIT_MS, work);
  }
}

function toReason(error: unknown): string {
  const isKnown = error instanceof GitFailed || error instanceof NoCheckout || error instanceof OutputTooLong;
  return isKnown ? error.message : `The changes could not be pushed (${errorMessage(error)}).`;
}
