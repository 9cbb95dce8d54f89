/**
 * Pushes a snapshot to its branch, and never forces the push.
 *
 * 1. The push is a commit on the branch's last agreed state: the branch at the start of the run, or at the run's last
 *    push.
 * 2. If the host rejects the push because the branch has moved since that state, the runner fetches the branch once.
 *    It applies the run's changes since that state to the branch's head, so people's pushes stay.
 * 3. If the run's changes conflict with that head, or the branch has moved again, nothing is pushed.
 * 4. If the branch already has the snapshot's changes, because the answer to an earlier push was lost, nothing is
 *    pushed. The result then names the branch's head.
 */
import type { PushOrder, PushProblem } from "../../../actors/runners/push.js";
import { git } from "../checkout/git.js";
import { mergeTrees } from "../checkout/merge-trees.js";
import { findTarget, gitWithToken, type PushTarget } from "./push-git.js";
import type { Snapshot } from "./push-site.js";

/** The last state in which the run and the branch agreed. */
export interface Agreed {
  /** The branch's head in this state. */
  readonly head: string;
  /** The tree of the run's files in this state. */
  readonly tree: string;
  /** The commit that the run merged in but has not pushed yet; null for none. */
  readonly merged: string | null;
}

export type PushResult =
  | { readonly head: string; readonly agreed: Agreed }
  | {
      readonly problem: PushProblem;
      readonly why: string;
      /** The branch's head, if the push conflicts with it. */
      readonly head?: string;
    };

export interface PushOptions {
  readonly site: string;
  readonly agreed: Agreed;
  readonly now: number;
  readonly signal: AbortSignal;
}

const MOVED_AGAIN = "Others pushed to the branch twice while the changes were being pushed.";
const CONFLICT = "The changes conflict with what others pushed to the branch.";
const NOTHING = "The branch does not exist, and the run has no changes to create it with.";
const NO_ADDRESS = "The address is not one that the runner can push to.";
const ONTO_BASE = "The branch is the base branch of the pull request.";
const BAD_TOKEN = "The code host did not issue a token for the push.";

/**
 * Pushes the snapshot, as this file's header describes. Rejects only because of a bug, or with `GitFailed` of a local
 * git command.
 */
export async function pushSnapshot(order: PushOrder, snapshot: Snapshot, options: PushOptions): Promise<PushResult> {
  if (order.token === null) return { problem: "untokened", why: order.why ?? BAD_TOKEN };
  if (order.branch === order.base) return { problem: "refused", why: ONTO_BASE };
  const target = findTarget(order, order.token);
  if (target === null) return { problem: "refused", why: NO_ADDRESS };
  const push = new Push(order, target, snapshot, options);
  return push.run();
}

class Push {
  readonly #order: PushOrder;
  readonly #target: PushTarget;
  readonly #snapshot: Snapshot;
  readonly #options: PushOptions;

  constructor(order: PushOrder, target: PushTarget, snapshot: Snapshot, options: PushOptions) {
    this.#order = order;
    this.#target = target;
    this.#snapshot = snapshot;
    this.#options = options;
  }

  async run(): Promise<PushResult> {
    const { agreed } = this.#options;
    const tree = await this.#onto(agreed.head);
    if (tree === null) return { problem: "conflict", why: CONFLICT };
    if (tree === (await this.#readTree(agreed.head)) && agreed.merged === null) return this.#found();
    const sent = await this.#send(await this.#commit(tree, agreed.head));
    return sent === "moved" ? this.#again() : sent;
  }

  /**
   * Returns the result if there is nothing to push: the branch's head, or a problem if the branch is missing or
   * unreachable.
   */
  async #found(): Promise<PushResult> {
    const head = await this.#fetch();
    if (typeof head === "object") return head;
    return head === "" ? { problem: "nothing", why: NOTHING } : this.#agree(head);
  }

  async #again(): Promise<PushResult> {
    const head = await this.#fetch();
    if (typeof head === "object") return head;
    if (head === "") return { problem: "conflict", why: MOVED_AGAIN };
    const tree = await this.#onto(head);
    if (tree === null) return { problem: "conflict", why: CONFLICT, head };
    if (tree === (await this.#readTree(head))) return this.#agree(head);
    const sent = await this.#send(await this.#commit(tree, head));
    return sent === "moved" ? { problem: "conflict", why: MOVED_AGAIN, head } : sent;
  }

  #agree(head: string): PushResult {
    return { head, agreed: { head, tree: this.#snapshot.tree, merged: null } };
  }

  /** Fetches the branch's current head; "" if there is no such branch. */
  async #fetch(): Promise<string | { readonly problem: PushProblem; readonly why: string }> {
    const { site, signal } = this.#options;
    const refs = `+refs/heads/${this.#target.branch}:refs/theirs`;
    const args = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--", this.#target.url, refs];
    const { isDone, why } = await gitWithToken(site, this.#target, args, { signal });
    if (isDone) return (await this.#git(["rev-parse", "--verify", "refs/theirs"])).trim();
    return /couldn't find remote ref/.test(why) ? "" : { problem: toProblem(why), why };
  }

  async #send(commit: string): Promise<PushResult | "moved"> {
    const { site, signal } = this.#options;
    const { url, branch } = this.#target;
    const flags = ["--porcelain", "--no-verify", "--no-signed", "--no-follow-tags", "--recurse-submodules=no"];
    const args = ["push", ...flags, "--", url, `${commit}:refs/heads/${branch}`];
    const { isDone, output, why } = await gitWithToken(site, this.#target, args, { signal });
    if (isDone) return this.#agree(commit);
    const [, reason] = /^!\t[^\t]*\t(.*)$/m.exec(output) ?? [];
    if (reason !== undefined) {
      return MOVED.test(reason) ? "moved" : { problem: "refused", why: `${reason}\n${why}` };
    }
    // Read the branch again: the push may have succeeded although its answer was lost.
    const head = await this.#fetch();
    return head === commit ? this.#agree(commit) : { problem: toProblem(why), why };
  }

  /**
   * Applies the run's changes since the last agreed state to a commit. Returns the resulting tree, or null for a
   * conflict.
   */
  async #onto(head: string): Promise<string | null> {
    const { agreed } = this.#options;
    const theirs = await this.#readTree(head);
    if (theirs === agreed.tree || theirs === this.#snapshot.tree) return this.#snapshot.tree;
    const [from, ours, other] = await this.#forked(agreed.tree, this.#snapshot.tree, theirs);
    if (from === undefined || ours === undefined || other === undefined) return null;
    const { site, signal } = this.#options;
    const both = { ours: other, theirs: ours, unrelated: true };
    const { tree, conflicts } = await mergeTrees(site, both, { env: { GIT_DIR: site }, signal });
    return conflicts.length > 0 ? null : tree;
  }

  /**
   * Creates a commit of each tree. The first commit is the parent of the other two, so git uses it as their merge base.
   */
  async #forked(from: string, ours: string, theirs: string): Promise<readonly string[]> {
    const begin = await this.#readCommit(from, [], "from");
    return [begin, await this.#readCommit(ours, [begin], "ours"), await this.#readCommit(theirs, [begin], "theirs")];
  }

  #commit(tree: string, head: string): Promise<string> {
    const { title, message = "" } = this.#order;
    const { merged } = this.#options.agreed;
    const [subject = ""] = title.split("\n");
    const text = message === "" ? subject : `${subject}\n\n${message}`;
    return this.#readCommit(tree, merged === null ? [head] : [head, merged], text);
  }

  async #readCommit(tree: string, parents: readonly string[], message: string): Promise<string> {
    const { name, email } = this.#order.author ?? { name: "Signalbox", email: "signalbox@localhost" };
    const date = `${Math.floor(this.#options.now / 1_000)} +0000`;
    const who = {
      GIT_AUTHOR_NAME: name,
      GIT_AUTHOR_EMAIL: email,
      GIT_AUTHOR_DATE: date,
      GIT_COMMITTER_NAME: name,
      GIT_COMMITTER_EMAIL: email,
      GIT_COMMITTER_DATE: date,
    };
    const on = parents.flatMap((parent) => ["-p", parent]);
    return (await this.#git(["commit-tree", tree, ...on, "-F", "-"], { env: who, input: message })).trim();
  }

  async #readTree(commit: string): Promise<string> {
    return (await this.#git(["rev-parse", "--verify", `${commit}^{tree}`])).trim();
  }

  #git(args: readonly string[], more: { readonly env?: Record<string, string>; readonly input?: string } = {}) {
    const { site, signal } = this.#options;
    return git(site, args, { signal, ...more, env: { GIT_DIR: site, ...more.env } });
  }
}

/** Errors of git and of servers which mean that the branch is not where the push expects it. */
const MOVED = /fetch first|non-fast-forward|stale info|cannot lock ref|failed to update ref|reference already exists/;

/** Classifies the code host's answer by git's error output. */
function toProblem(why: string): PushProblem {
  return /Authentication failed|could not read Username|error: 40[0-9]|not found|Permission/.test(why)
    ? "refused"
    : "unreachable";
}
