import t from "tap";
import type { RunnerFrame } from "../../../actors/runners/protocol.js";
import { InboundFrames } from "../../../http/runners/inbound-frames.js";
import { NotAccepted } from "../../../runtime/runtime.js";

/** Records the frames, each by its number or as `hello`. The test decides when the handling of a frame completes. */
class Handling {
  readonly begun: string[] = [];
  readonly ends: { readonly code: number; readonly reason: string }[] = [];
  readonly frames: InboundFrames;
  #open = true;
  readonly #under = new Map<string, { done(): void; fail(error: Error): void }>();

  constructor() {
    this.frames = new InboundFrames({
      take: (frame) => this.#take(frame),
      isOpen: () => this.#open,
      end: (code, reason) => {
        this.#open = false;
        this.ends.push({ code, reason });
      },
    });
  }

  add(...ns: readonly number[]): void {
    for (const n of ns) this.frames.add(message(n));
  }

  async done(name: string): Promise<void> {
    this.#under.get(name)?.done();
    await settled();
  }

  async fail(name: string, error = new Error("broken")): Promise<void> {
    this.#under.get(name)?.fail(error);
    await settled();
  }

  #take(frame: RunnerFrame): Promise<void> {
    const name = frame.frame === "message" ? String(frame.n) : frame.frame;
    this.begun.push(name);
    return new Promise((done, fail) => this.#under.set(name, { done, fail }));
  }
}

const message = (n: number, text = "") =>
  JSON.stringify({
    frame: "message",
    n,
    ack: 0,
    message: {
      type: "run.step",
      runId: "run_1",
      fence: 1,
      step: { index: n, kind: "message", text, tool: null, spent: null },
    },
  });
const hello = JSON.stringify({
  frame: "hello",
  protocol: 1,
  runnerId: null,
  instance: "0123456789abcdef",
  name: "one",
  version: "1",
  labels: [],
  harnesses: [],
  slots: 1,
  received: 0,
  claims: [],
});
const settled = () => new Promise((resolve) => setImmediate(resolve));

t.test("messages begin in order without waiting for those before; nothing begins beside a hello", async (t) => {
  const handling = new Handling();
  handling.frames.add(hello);
  handling.add(1, 2);
  t.same(handling.begun, ["hello"]);
  await handling.done("hello");
  t.same(handling.begun, ["hello", "1", "2"]);
  handling.frames.add(hello);
  handling.add(3);
  await handling.done("2");
  t.same(handling.begun.slice(3), [], "the first is not over");
  await handling.done("1");
  t.same(handling.begun.slice(3), ["hello"]);
});

t.test("none begins after one that failed, and those under way end the connection no second time", async (t) => {
  const handling = new Handling();
  handling.add(1, 2);
  await handling.fail("1");
  handling.add(3);
  await handling.fail("2", new NotAccepted("no"));
  t.same(handling.begun, ["1", "2"]);
  t.same(handling.ends, [{ code: 4503, reason: "try again" }]);
});

t.test("64 messages are under way at once, and a mebibyte of them", async (t) => {
  for (const [text, most] of [
    ["", 64],
    ["x".repeat(16_384), 63],
  ] as const) {
    const handling = new Handling();
    for (let n = 1; n <= 70; n++) handling.frames.add(message(n, text));
    t.equal(handling.begun.length, most);
    await handling.done("1");
    t.equal(handling.begun.length, most + 1);
  }
});

t.test("what follows the end of a connection waits for all that is under way, whether it fails or not", async (t) => {
  const handling = new Handling();
  const after: string[] = [];
  handling.add(1, 2);
  handling.frames.closed(async () => void after.push("left"));
  await handling.fail("1");
  t.same(after, []);
  await handling.done("2");
  t.same(after, ["left"]);
});

t.test("a runner that sends too much ahead of what is taken is ended once that is taken", async (t) => {
  const handling = new Handling();
  handling.frames.add(hello);
  handling.add(...Array.from({ length: 4_098 }, (_, n) => n + 1));
  t.same(handling.ends, []);
  await handling.done("hello");
  for (let n = 1; n <= 4_096; n++) await handling.done(String(n));
  t.equal(handling.begun.length, 4_097);
  t.match(handling.ends, [{ code: 4503, reason: "too much was sent at once: try again" }]);
});
