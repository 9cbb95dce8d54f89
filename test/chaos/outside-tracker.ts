import { createHmac, randomBytes } from "node:crypto";
import { z } from "zod";
import { type ApiFault, type LoopbackApi, startLoopbackApi } from "../../http/demo/loopback-api.js";
import { expr } from "../support/integration.js";

/** How the tracker answers requests of the service. */
export type TrackerManner = "well" | "hangs" | "resets" | "throttles" | "answers junk";

const faults: Readonly<Record<Exclude<TrackerManner, "well">, ApiFault>> = {
  hangs: "hang",
  resets: "drop",
  throttles: { status: 429, headers: { "retry-after": "1" } },
  "answers junk": { status: 200, text: "<html>not what you asked for" },
};

const commented = z.object({ text: z.string() });

/** A simulated issue tracker. Its deliveries open tasks, agents call its tools, and bindings notify it. */
export class OutsideTracker {
  readonly secret = randomBytes(20).toString("hex");
  readonly #api: LoopbackApi;

  private constructor(api: LoopbackApi) {
    this.#api = api;
  }

  static async open(): Promise<OutsideTracker> {
    return new OutsideTracker(await startLoopbackApi(() => ({ status: 200, json: { ok: true } })));
  }

  get url(): string {
    return this.#api.url;
  }

  /** The texts of all received comments, including those whose answer was lost. */
  get comments(): readonly string[] {
    return this.#api.requests
      .filter(({ path }) => path === "/comments")
      .map(({ text }) => commented.parse(JSON.parse(text)).text);
  }

  set manner(manner: TrackerManner) {
    this.#api.faults.clear();
    if (manner !== "well") this.#api.faults.set(/./, { fault: faults[manner] });
  }

  /** Returns the headers of a signed delivery with this key. */
  headersFor(body: unknown, key: string): Readonly<Record<string, string>> {
    const signature = createHmac("sha256", this.secret).update(JSON.stringify(body)).digest("hex");
    return { "x-signature": signature, "x-delivery": key };
  }

  /**
   * Returns the definition of the tracker's integration. The tracker's deliveries open tasks for the person with this
   * email address.
   */
  definition(assignee: string): Readonly<Record<string, unknown>> {
    const comment = { request: { url: `${this.url}/comments`, body: { text: expr("inputs.text") } } };
    const text = { text: { required: true } };
    return {
      integration: "tracker",
      name: "Tracker",
      hosts: [new URL(this.url).host],
      webhook: {
        verify: { hmac: { secret: "tracker-hook", header: "x-signature" } },
        delivery: expr('headers["x-delivery"]'),
        events: [
          {
            raise: {
              opens: { line: "tools", title: expr("body.title"), assignBy: { email: expr(`"${assignee}"`) } },
              marks: { issue: { value: expr("body.title") } },
            },
          },
        ],
      },
      actions: { comment, tell: { request: { url: `${this.url}/told`, body: { about: expr("target.issue") } } } },
      tools: {
        comment: { action: "comment", inputs: text },
        leave: { action: "comment", inputs: text, approval: true },
      },
      on: [{ event: "task.opened", action: "tell", to: { issue: expr("task.marks.issue") } }],
    };
  }

  close(): void {
    void this.#api.close();
  }
}
