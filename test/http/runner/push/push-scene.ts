import { writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Test } from "tap";
import type { Job } from "../../../../actors/runners/job.js";
import type { RunnerMessage } from "../../../../actors/runners/protocol.js";
import type { PushOrder } from "../../../../actors/runners/push.js";
import type { CodeHost } from "../../../../http/demo/code-host/code-host.js";
import type { FileChanges, HostedRepository } from "../../../../http/demo/code-host/hosted-repository.js";
import { type Checkout, createCheckout } from "../../../../http/runner/checkout/checkout.js";
import { Mirrors } from "../../../../http/runner/checkout/mirrors.js";
import { RunFolder } from "../../../../http/runner/checkout/run-folder.js";
import { openPushSite, takeSnapshot } from "../../../../http/runner/push/push-site.js";
import { Pushes } from "../../../../http/runner/push/pushes.js";
import { startCodeHost } from "../../../support/code-host.js";
import { install } from "../../../support/code-host-scene.js";
import { ManualClock } from "../../../support/manual-clock.js";

type Answer = Extract<RunnerMessage, { type: "run.pushed" | "run.push-rejected" }>;

/** The branch that each push order names. */
export const BRANCH = "signalbox/0000abcd-fix-it";

/** A run whose checkout of `acme-inc/app` can be pushed. */
export interface PushedRun {
  readonly checkout: Checkout;
  readonly folder: RunFolder;
  readonly pushes: Pushes;
  readonly messages: readonly RunnerMessage[];
  /** Sends a push order, by default for the run's end, and waits for its answer. */
  order(wish?: Partial<PushOrder>): Promise<Answer>;
  /** Takes a snapshot at the run's end. */
  keep(): Promise<void>;
  /** Takes a snapshot at the run's end, and orders its push. */
  end(wish?: Partial<PushOrder>): Promise<Answer>;
}

/**
 * A code host with one repository. Runs check out the repository from its folder, and push to the code host over HTTP.
 */
export class PushScene {
  readonly host: CodeHost;
  readonly app: HostedRepository;
  readonly workFolder: string;
  readonly #mirrors: Mirrors;
  #runs = 0;
  #orders = 0;

  private constructor(host: CodeHost, app: HostedRepository, workFolder: string, root: string) {
    this.host = host;
    this.app = app;
    this.workFolder = workFolder;
    this.#mirrors = new Mirrors({ workFolder, gitUrl: join(root, "{name}.git") });
  }

  static async open(t: Test, files: FileChanges = { "a.txt": "one\n", "b.txt": "two\n" }): Promise<PushScene> {
    const host = await startCodeHost(t);
    install(host, 7);
    host.repositories.set(7, ["acme-inc/app"]);
    const app = await host.work.addRepository("acme-inc/app", files);
    const workFolder = await mkdtemp(join(tmpdir(), "signalbox-push-"));
    t.teardown(() => rm(workFolder, { recursive: true, force: true }));
    return new PushScene(host, app, workFolder, await host.work.folder);
  }

  /** Starts a run with a checkout. */
  async run(wanted: Partial<Job["checkouts"][number]> = {}): Promise<PushedRun> {
    this.#runs += 1;
    const claim = { runId: `run_${this.#runs}`, fence: 1 };
    const { signal } = new AbortController();
    const folder = await RunFolder.create(this.workFolder, claim);
    const at = { repository: "acme-inc/app", setup: null, image: null, base: null, diff: "", ...wanted };
    const [place, record] = [folder.checkout(at.repository), folder.record(at.repository)];
    const checkout = await createCheckout(this.#mirrors, at, { folder: place, record, signal });
    const messages: RunnerMessage[] = [];
    const waiting = new Map<string, (answer: Answer) => void>();
    const send = (message: RunnerMessage) => {
      messages.push(message);
      if (message.type === "run.pushed" || message.type === "run.push-rejected") waiting.get(message.id)?.(message);
    };
    const pushes = new Pushes({ claim, clock: new ManualClock(), mask: (text) => text, send, signal });
    const site = await openPushSite(checkout, folder, signal);
    pushes.add(site);
    const order = (wish: Partial<PushOrder> = {}) => {
      this.#orders += 1;
      const id = `push-${this.#orders}`;
      return new Promise<Answer>((resolve) => {
        waiting.set(id, resolve);
        pushes.take({
          type: "run.push",
          ...claim,
          id,
          repository: "acme-inc/app",
          wish: null,
          branch: BRANCH,
          base: "main",
          url: this.url,
          token: this.token(),
          title: "Fix it",
          ...wish,
        });
      });
    };
    const keep = async () => {
      const taken = await takeSnapshot(site, { signal }).catch(() => null);
      pushes.keep(new Map(taken === null ? [] : [[at.repository, taken]]));
    };
    const end = async (wish: Partial<PushOrder> = {}) => {
      await keep();
      return order(wish);
    };
    return { checkout, folder, pushes, messages, keep, order, end };
  }

  get url(): string {
    return `${this.host.origin}/acme-inc/app.git`;
  }

  /** Issues a new token that may push to the repository. */
  token(permissions: Readonly<Record<string, string>> = { contents: "write" }): string {
    return this.host.installationToken(7, { repositories: ["app"], permissions });
  }

  /** Returns the files at the head of the branch; null if there is no branch. */
  async branch(): Promise<Readonly<Record<string, string>> | null> {
    const head = await this.app.head(BRANCH);
    return head === null ? null : this.app.files(head);
  }
}

export function putFile({ checkout }: PushedRun, path: string, text: string): void {
  writeFileSync(join(checkout.folder, path), text);
}
