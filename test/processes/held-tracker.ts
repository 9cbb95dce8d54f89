import { createHmac, randomBytes } from "node:crypto";
import { z } from "zod";
import { type ApiRequest, type LoopbackApi, startLoopbackApi } from "../../http/demo/loopback-api.js";
import { expr } from "../support/integration.js";
import type { Cleaning } from "../support/service.js";

const commented = z.object({ text: z.string() });
const HOOK_SECRET = "tracker-hook";

/** The subject of a delivery. `issue` opens a task that an agent works on. `other` opens a task that waits forever. */
interface Told {
  readonly kind: "issue" | "other";
  readonly title: string;
}

/** A tracker in the test's process. The test can delay its answers to requests for a path. */
export class HeldTracker {
  readonly #secret = randomBytes(20).toString("hex");
  readonly #held = new Map<string, { readonly over: Promise<void>; readonly end: () => void }>();
  readonly #api: LoopbackApi;

  private constructor(api: LoopbackApi) {
    this.#api = api;
  }

  /** Starts a tracker, which closes with the test. */
  static async start(t: Cleaning): Promise<HeldTracker> {
    const api = await startLoopbackApi(async (request) => {
      await tracker.#held.get(request.path)?.over;
      return { status: 200, json: answerTo(request) };
    });
    const tracker = new HeldTracker(api);
    t.teardown(() => api.close());
    return tracker;
  }

  get url(): string {
    return this.#api.url;
  }

  /** The secret that signs the tracker's deliveries. */
  get secret(): { readonly name: string; readonly value: string; readonly valueVersion: number } {
    return { name: HOOK_SECRET, value: this.#secret, valueVersion: 1 };
  }

  /** The texts of all received calls. */
  get comments(): readonly string[] {
    const arrived = this.#api.requests.filter(({ path }) => path === "/comments" || path === "/leaves");
    return arrived.map(({ text }) => commented.parse(JSON.parse(text)).text);
  }

  /** Holds back answers to requests for the path until {@link letGo}. */
  hold(path: string): void {
    let end = (): void => undefined;
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#held.set(path, { over, end });
  }

  letGo(path: string): void {
    this.#held.get(path)?.end();
    this.#held.delete(path);
  }

  /** Resolves with the next request to the path. */
  nextTo(path: string): Promise<void> {
    const before = this.#api.requests.filter((request) => request.path === path).length;
    return this.#api.arrived(new RegExp(` ${path}$`), before + 1);
  }

  /** Sends a delivery whose key is the title; resolves with whether the service accepted the delivery. */
  async tell(address: string, told: Told): Promise<boolean> {
    const body = JSON.stringify(told);
    const signature = createHmac("sha256", this.#secret).update(body).digest("hex");
    const headers = { "x-signature": signature, "x-delivery": told.title };
    const answered = await this.#api.deliver(address, headers, body).catch(() => null);
    return answered?.status === 202;
  }

  /**
   * Returns the definition of the tracker's integration. The tracker's issues are assigned to the person with this
   * email address.
   */
  definition(assignee: string): Readonly<Record<string, unknown>> {
    const { url } = this;
    const inputs = { text: { required: true } };
    const to = (path: string) => ({ url: `${url}${path}`, body: { text: expr("inputs.text") } });
    const lookup = {
      request: { url: `${url}/issues?of=${expr("body.title")}` },
      capture: { title: expr("response.title") },
    };
    const opens = { line: "fix", title: expr("title"), assignBy: { email: expr(`"${assignee}"`) } };
    return {
      integration: "tracker",
      name: "Tracker",
      hosts: [new URL(url).host],
      webhook: {
        verify: { hmac: { secret: HOOK_SECRET, header: "x-signature" } },
        delivery: expr('headers["x-delivery"]'),
        events: [
          { when: expr('body.kind == "issue"'), lookup, raise: { opens } },
          { when: expr('body.kind == "other"'), raise: { opens: { line: "later", title: expr("body.title") } } },
        ],
      },
      poll: {
        everyMinutes: 60,
        request: { url: `${url}/items?since=${expr("cursor")}` },
        cursor: expr("string(body.next)"),
        events: [{ forEach: expr("body.items"), raise: { opens: { line: "later", title: expr("item.title") } } }],
      },
      actions: { comment: { request: to("/comments") }, leave: { request: to("/leaves") } },
      tools: { comment: { action: "comment", inputs }, leave: { action: "leave", inputs, approval: true } },
    };
  }
}

/**
 * Answers `/issues` with an issue that has the requested title, and `/items` with one item and the next cursor. Other
 * paths get `ok`.
 */
function answerTo({ path, query }: ApiRequest): unknown {
  if (path === "/issues") return { title: query.get("of") };
  if (path !== "/items") return { ok: true };
  const since = Number(query.get("since"));
  return { items: [{ title: `item ${since}` }], next: since + 1 };
}
