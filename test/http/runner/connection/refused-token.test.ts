import t from "tap";
import { poolToken } from "../../../../http/runner/connection/credential.js";
import { ServiceConnection } from "../../../../http/runner/connection/service-connection.js";
import { ManualClock } from "../../../support/manual-clock.js";
import type { Cleaning } from "../../../support/service.js";
import { until } from "../../../support/until.js";
import { ProtocolService } from "../protocol-service.js";

/** Opens a connection. `refusals` gets an entry when the service refuses the token before it has ever accepted one. */
async function open(t: Cleaning & Parameters<typeof ProtocolService.start>[0], token: string) {
  const service = await ProtocolService.start(t);
  const clock = new ManualClock();
  const said: string[] = [];
  const refusals: string[] = [];
  const connection = new ServiceConnection({
    url: service.url,
    credential: poolToken(token),
    clock,
    random: () => 0.5,
    hello: () => ({
      instance: "0123456789abcdef",
      name: "runner",
      version: "0.1.0",
      labels: [],
      harnesses: ["command"],
      slots: 1,
      claims: [],
      makesRequests: true,
      features: [],
    }),
    take: () => undefined,
    make: async ({ id }) => ({ frame: "response", id, answer: null, failure: null }),
    commits: {
      kept: { begin: () => undefined, report: () => undefined, release: () => undefined },
      wanted: { add: () => undefined },
    },
    drop: () => undefined,
    leaseOver: () => undefined,
    log: (line) => void said.push(line),
    refused: () => void refusals.push("refused"),
  });
  t.teardown(async () => connection.close());
  connection.open();
  return { service, clock, said, refusals };
}

t.test("a token that the service never accepted is reported once, and not tried again", async (t) => {
  const { clock, said, refusals } = await open(t, "another-token");
  await until("it is refused", () => refusals.length > 0);
  t.match(said, [/the service rejected the pool token$/]);
  t.equal(said.length, 1);
  t.equal(clock.waiting, 0, "no retry is planned");
});

t.test("a token that is refused after a welcome is tried again, because it may have been rotated", async (t) => {
  const { service, clock, said, refusals } = await open(t, "pool-token");
  await service.frame("hello");
  service.welcome();
  await until("it is welcome", () => said.some((line) => line.startsWith("connected as")));
  service.token = "rotated";
  service.cut();
  await until("the connection is lost", () => said.includes("lost the service, retrying"));
  clock.advance(250);
  await until("a retry is planned", () => said.some((line) => line.startsWith("retrying in")));
  t.same(refusals, []);
});
