import t from "tap";
import { type CallTally, MAX_TALLIED, tallyRefusal, tallyStep } from "../../../actors/run-facts/call-tally.js";
import type { ToolCall } from "../../../actors/runners/tool-call.js";

const call = (server: string | null, tool: string, more: Partial<ToolCall> = {}) => ({
  call: { server, tool, failed: false, refusedBy: null, ...more },
});
const tally = (...steps: Parameters<typeof tallyStep>[1][]) => steps.reduce(tallyStep, undefined);

t.test("a step without a call or a skill leaves the tally as it was", async (t) => {
  t.equal(tally({}, {}), undefined);
  const before = tally({ skill: "greet" });
  t.equal(tallyStep(before, {}), before);
  t.equal(tallyStep(before, { skill: "greet" }), before, "a skill that was read before, too");
});

t.test("calls and failures are counted by server, and whether the last one failed", async (t) => {
  const failed = { failed: true };
  t.match(tally(call("tracker", "find"), call("files", "read", failed), call("tracker", "open", failed)), {
    servers: [
      { server: "tracker", calls: 2, failed: 1, lastFailed: true },
      { server: "files", calls: 1, failed: 1, lastFailed: true },
    ],
    refused: { length: 0 },
    skillsRead: { length: 0 },
  });
  t.match(tally(call("tracker", "open", failed), call("tracker", "find")), {
    servers: [{ server: "tracker", calls: 2, failed: 1, lastFailed: false }],
  });
  t.equal(tally(call(null, "shell")), undefined, "a tool of no server counts for none");
});

t.test("a refused call is told once by tool and who refused it, and counts as no call", async (t) => {
  const refused = { refusedBy: "person" } as const;
  const found = tally(
    ...[call("tracker", "open", refused), call("tracker", "open", refused), call(null, "shell", refused)],
    call("tracker", "open", { refusedBy: "service" }),
  );
  t.same(found?.refused, [
    { server: "tracker", tool: "open", by: "person" },
    { server: null, tool: "shell", by: "person" },
    { server: "tracker", tool: "open", by: "service" },
  ]);
  t.same(found?.servers, []);
  const more = tallyRefusal(found, { server: null, tool: "shell", by: "person" });
  t.equal(more, found);
});

t.test("a tally is bounded: later names are left out, those that are known are still counted", async (t) => {
  const names = Array.from({ length: MAX_TALLIED + 1 }, (_, index) => `s${index}`);
  const all = (found: CallTally | undefined) =>
    [found?.servers, found?.refused, found?.skillsRead].map((of) => of?.length);
  const found = tally(
    ...names.flatMap((name) => [
      call(name, "find"),
      call(name, "open", { refusedBy: "agent" as const }),
      { skill: name },
    ]),
  );
  t.same(all(found), [MAX_TALLIED, MAX_TALLIED, MAX_TALLIED]);
  t.equal(tallyStep(found, call("s0", "find"))?.servers[0]?.calls, 2);
});
