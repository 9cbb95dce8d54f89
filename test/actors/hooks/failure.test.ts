import t from "tap";
import { codeOfStatus, isRetried, MAX_ATTEMPTS, waitAfter } from "../../../actors/hooks/failure.js";

t.test("waits begin at 2 seconds and double up to 1 hour, over 8 attempts in all", async (t) => {
  const waits = Array.from({ length: MAX_ATTEMPTS - 1 }, (_, index) => waitAfter(index + 1) / 1_000);
  t.same(waits, [2, 4, 8, 16, 32, 64, 128]);
  t.equal(waitAfter(13), 60 * 60 * 1_000);
});

t.test("statuses have their codes", async (t) => {
  const codes = {
    200: null,
    204: null,
    301: "rejected",
    400: "rejected",
    408: "throttled",
    425: "throttled",
    429: "throttled",
    500: "server-error",
    599: "server-error",
  };
  for (const [status, code] of Object.entries(codes)) t.equal(codeOfStatus(Number(status)), code, status);
});

t.test("only what may go away by itself is tried again", async (t) => {
  for (const code of ["unreachable", "timeout", "throttled", "server-error", "tool-failed", "errored"] as const)
    t.ok(isRetried(code));
  for (const code of ["rejected", "not-allowed", "unwritable", "broken", "loop", "superseded"] as const)
    t.notOk(isRetried(code));
});
