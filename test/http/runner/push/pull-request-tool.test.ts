import t from "tap";
import { pullRequestTool } from "../../../../http/runner/push/pull-request-tool.js";
import { type PullRequestFields, type PullRequestResult, Pushes } from "../../../../http/runner/push/pushes.js";
import { ANSWER_WITHIN_MS, PROGRESS_EVERY_MS } from "../../../../http/runner/tools/await-call.js";
import { ManualClock } from "../../../support/manual-clock.js";

/** Records the requests for pull requests. The test answers these requests. */
class ByHand extends Pushes {
  readonly wished: PullRequestFields[] = [];
  readonly answers: ((result: PullRequestResult) => void)[] = [];

  override wish(fields: PullRequestFields): Promise<PullRequestResult> {
    this.wished.push(fields);
    return new Promise((resolve) => this.answers.push(resolve));
  }
}

function open() {
  const clock = new ManualClock();
  const { signal } = new AbortController();
  const claim = { runId: "run_1", fence: 1 };
  const pushes = new ByHand({ claim, clock, mask: (text) => text, send: () => undefined, signal });
  return { clock, pushes, signal, tool: pullRequestTool(pushes, clock) };
}

t.test("a call wishes for a pull request, and is answered with its address, or why there is none", async (t) => {
  const { pushes, tool, signal } = open();
  const opened = tool.call({ title: "Fix it", body: "Because." }, { signal, progress: null });
  pushes.answers[0]?.({ url: "https://code.example/acme/app/pull/1" });
  t.same(await opened, { text: "https://code.example/acme/app/pull/1", isError: false });
  t.same(pushes.wished, [{ title: "Fix it", body: "Because.", repository: null }]);
  const refused = tool.call({ title: "Fix it", repository: "acme/app" }, { signal, progress: null });
  pushes.answers[1]?.({ refused: "Hook x refused. Reason: not today" });
  t.same(await refused, { text: "Hook x refused. Reason: not today", isError: true });
});

t.test("inputs are what the schema says", async (t) => {
  const { pushes, tool, signal } = open();
  for (const inputs of [{}, { title: "" }, { title: "x".repeat(257) }, { title: "x", draft: true }, null, "x"]) {
    t.match(await tool.call(inputs, { signal, progress: null }), { isError: true }, JSON.stringify(inputs));
  }
  t.same(pushes.wished, []);
});

t.test(
  "without progress a client is answered before it gives up, and the same call again gets the result",
  async (t) => {
    const { clock, pushes, tool, signal } = open();
    const first = tool.call({ title: "Fix it" }, { signal, progress: null });
    clock.advance(ANSWER_WITHIN_MS);
    t.match(await first, { isError: false, text: /same inputs/ });
    const again = tool.call({ title: "Fix it" }, { signal, progress: null });
    pushes.answers[0]?.({ url: "https://code.example/1" });
    t.same(await again, { text: "https://code.example/1", isError: false });
    t.equal(pushes.wished.length, 1);
  },
);

t.test("with progress it is told every 15 seconds; a client that gives up ends only its own wait", async (t) => {
  const { clock, pushes, tool, signal } = open();
  const told: string[] = [];
  const one = tool.call({ title: "Fix it" }, { signal, progress: (text) => told.push(text) });
  const gone = new AbortController();
  const other = tool.call({ title: "Fix it" }, { signal: gone.signal, progress: null });
  gone.abort();
  t.match(await other, { isError: true, text: /given up/ });
  clock.advance(PROGRESS_EVERY_MS);
  clock.advance(PROGRESS_EVERY_MS);
  t.equal(told.length, 2);
  pushes.answers[0]?.({ url: "https://code.example/1" });
  t.match(await one, { isError: false });
});
