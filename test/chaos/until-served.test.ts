import t from "tap";
import { Refused } from "./refused.js";
import { untilServed } from "./until-served.js";

/**
 * Runs a request that first fails with each of these errors and is then answered. Returns the number of requests and
 * the outcome.
 */
async function ask(failures: readonly Error[]) {
  let asked = 0;
  const outcome = await untilServed(
    async () => {
      const failure = failures[asked++];
      if (failure !== undefined) throw failure;
      return "answered";
    },
    async () => undefined,
  ).catch((error: Error) => error.message);
  return { asked, outcome };
}

const reset = new Error("read ECONNRESET");
const refused = (status: number) => new Refused("a task", { status, body: null });

t.test("a neighbour whose connection breaks is served by the next life, and that is no complaint", async (t) => {
  t.same(await ask([]), { asked: 1, outcome: "answered" });
  t.same(await ask([reset, refused(503), reset, refused(429)]), { asked: 5, outcome: "answered" });
});

t.test("a neighbour that is refused, or that nobody answers, is not served", async (t) => {
  t.same(await ask([reset, refused(500)]), { asked: 2, outcome: "a task answered 500 null" });
  t.same(await ask([refused(403), reset]), { asked: 1, outcome: "a task answered 403 null" });
  t.same(await ask(Array(1_000).fill(reset)), { asked: 240, outcome: "read ECONNRESET" });
});
