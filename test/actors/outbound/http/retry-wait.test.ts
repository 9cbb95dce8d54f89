import { readdirSync, readFileSync } from "node:fs";
import t from "tap";
import { MAX_ATTEMPTS, retryWaitMs } from "../../../../actors/outbound/http/retry-wait.js";

t.test("waits begin at 2 seconds and double up to 1 hour, over 8 attempts in all", async (t) => {
  const waits = Array.from({ length: MAX_ATTEMPTS - 1 }, (_, index) => retryWaitMs(index + 1) / 1_000);
  t.same(waits, [2, 4, 8, 16, 32, 64, 128]);
  t.equal(retryWaitMs(13), 60 * 60 * 1_000);
});

t.test("a longer wait that the host requests applies, up to 1 hour", async (t) => {
  t.equal(retryWaitMs(3, null), 8_000);
  t.equal(retryWaitMs(3, 7_999), 8_000);
  t.equal(retryWaitMs(3, 8_001), 8_001);
  t.equal(retryWaitMs(1, 24 * 60 * 60 * 1_000), 60 * 60 * 1_000);
});

t.test("the numbers of the policy stand in one file", async (t) => {
  const stating = readdirSync("actors", { recursive: true, encoding: "utf8" }).filter((path) => {
    if (!path.endsWith(".ts")) return false;
    return /_ATTEMPTS = 8;|_WAIT_MS = 2_000;|_WAIT_MS = 60 \* 60 \* 1_000;/.test(
      readFileSync(`actors/${path}`, "utf8"),
    );
  });
  t.same(stating, ["outbound/http/retry-wait.ts"]);
});
