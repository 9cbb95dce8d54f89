import t from "tap";
import { isRetried } from "../../../../actors/hooks/delivery/retry-policy.js";

t.test("only temporary failures are tried again", async (t) => {
  for (const code of ["unreachable", "timeout", "throttled", "server-error", "tool-failed", "errored"] as const)
    t.ok(isRetried(code));
  for (const code of ["rejected", "not-allowed", "unwritable", "broken", "loop", "superseded"] as const)
    t.notOk(isRetried(code));
});
