import t from "tap";
import { isRetried } from "../../../../actors/hooks/delivery/retry-policy.js";
import { MAX_ATTEMPTS, retryWaitMs } from "../../../../actors/outbound/http/retry-wait.js";

t.test("waits begin at 2 seconds and double up to 1 hour, over 8 attempts in all", async (t) => {
  const waits = Array.from({ length: MAX_ATTEMPTS - 1 }, (_, index) => retryWaitMs(index + 1) / 1_000);
  t.same(waits, [2, 4, 8, 16, 32, 64, 128]);
  t.equal(retryWaitMs(13), 60 * 60 * 1_000);
});

t.test("only temporary failures are tried again", async (t) => {
  for (const code of ["unreachable", "timeout", "throttled", "server-error", "tool-failed", "errored"] as const)
    t.ok(isRetried(code));
  for (const code of ["rejected", "not-allowed", "unwritable", "broken", "loop", "superseded"] as const)
    t.notOk(isRetried(code));
});
