import { z } from "zod";
import { CodeHost, type HostedFault } from "../../http/demo/code-host/code-host.js";
import type { HostedPull } from "../../http/demo/code-host/hosted-pulls.js";
import type { HostedEvent } from "../../http/demo/code-host/hosted-work.js";
import type { Chance } from "../simulation/chance.js";
import { bobThere, connect, install } from "../support/code-host-scene.js";
import type { ServiceKeeper } from "./service-keeper.js";

/** How the code host answers requests of the service and of the runners' git. */
export type CodeHostManner = "well" | "hangs" | "loses answers" | "throttles" | "is down";

/** A pull request in the code host's records. */
export interface PullThere {
  readonly number: number;
  readonly branch: string;
  readonly state: "open" | "closed" | "merged";
}

const REPOSITORY = "acme/app";
const INSTALLATION = 7;
/** One in this many deliveries is lost. */
const LOST_ONCE_IN = 5;

const moved = z.object({ ref: z.string(), before: z.string(), after: z.string() });

/**
 * A code host. Runners push to it, and the service opens pull requests on it. The code host sends its events to the
 * service.
 */
export class OutsideCodeHost {
  readonly #host: CodeHost;
  readonly #chance: Chance;
  readonly #forced: string[] = [];
  /** Work in progress after an event: deliveries, and checks of pushes. */
  readonly #busy = new Set<Promise<unknown>>();
  #goOn: () => void = () => undefined;

  private constructor(host: CodeHost, chance: Chance) {
    this.#host = host;
    this.#chance = chance;
    host.work.tell = (event) => this.#happened(event);
  }

  /** Starts a code host with its repositories in a folder; `now` is the service's clock. */
  static async open(folder: string, now: () => number, chance: Chance): Promise<OutsideCodeHost> {
    const host = await CodeHost.start(now, folder);
    await host.work.addRepository(REPOSITORY);
    install(host, INSTALLATION, { id: 9_001, login: "acme", type: "Organization" });
    host.repositories.set(INSTALLATION, [REPOSITORY]);
    return new OutsideCodeHost(host, chance);
  }

  /** Settings of a service that uses this code host. */
  get settings(): Readonly<Record<string, string>> {
    return this.#host.settings;
  }

  /**
   * Connects the owner's workspace to the code host. From then on, the code host sends its deliveries to the service.
   */
  async connect(service: ServiceKeeper, headers: Readonly<Record<string, string>>): Promise<void> {
    const request = (method: "POST", path: string, body: unknown) =>
      service.request(method, path, { body, headers: { ...headers } });
    const { status } = await connect(this.#host, { request }, { installationId: INSTALLATION });
    if (status !== 200) throw new Error(`connecting answered ${status}`);
    this.#host.hooks.url = `${service.baseUrl}/api/code-host/deliveries`;
  }

  set manner(manner: CodeHostManner) {
    this.#goOn();
    this.#host.faults.clear();
    if (manner !== "well") this.#host.faults.set(/./, this.#toFault(manner));
  }

  get pulls(): readonly PullThere[] {
    return this.#host.work.pulls.map((pull) => ({ number: pull.number, branch: pull.head, state: toState(pull) }));
  }

  /** Pushes that were not fast-forwards. */
  get forced(): readonly string[] {
    return this.#forced;
  }

  /** Merges an open pull request as a person, if there is one. */
  async merge(chance: Chance): Promise<void> {
    const open = this.#host.work.pulls.filter((pull) => toState(pull) === "open");
    if (open.length > 0) await this.#host.work.merge(chance.pick(open), bobThere);
  }

  /** Resolves when no work is in progress. */
  async settled(): Promise<void> {
    while (this.#busy.size > 0) await Promise.all(this.#busy);
  }

  close(): void {
    this.#goOn();
    void this.#host.close();
  }

  #toFault(manner: Exclude<CodeHostManner, "well">): HostedFault {
    switch (manner) {
      case "hangs": {
        const after = new Promise<void>((resolve) => {
          this.#goOn = resolve;
        });
        return { after };
      }
      case "loses answers":
        return "lose";
      case "throttles":
        return { status: 403, headers: { "retry-after": "1" }, body: '{"message":"secondary rate limit"}' };
      case "is down":
        return { status: 502 };
    }
  }

  #happened(event: HostedEvent): void {
    if (!this.#chance.onceIn(LOST_ONCE_IN)) this.#keep(this.#host.hooks.send(event));
    if (event.event === "push") this.#keep(this.#check(event));
  }

  /** Checks that a push keeps all earlier commits of the branch. */
  async #check({ payload }: HostedEvent): Promise<void> {
    const { ref, before, after } = moved.parse(payload);
    const repository = this.#host.work.repositories.get(REPOSITORY);
    if (repository === undefined || /^0+$/.test(before)) return;
    const isOnTop = await repository.git("merge-base", "--is-ancestor", before, after).then(
      () => true,
      () => false,
    );
    if (!isOnTop) this.#forced.push(`${ref} from ${before} to ${after}`);
  }

  #keep(work: Promise<unknown>): void {
    const kept: Promise<unknown> = work.finally(() => this.#busy.delete(kept));
    this.#busy.add(kept);
  }
}

function toState({ state, merged_at }: HostedPull): PullThere["state"] {
  return merged_at === null ? state : "merged";
}
