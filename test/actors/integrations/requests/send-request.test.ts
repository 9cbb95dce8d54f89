import t from "tap";
import { integrationRows, requesting } from "../../../support/integration-rows.js";

const url = "https://api.example.com/items";

t.test("the host of a poll may ask for a day, any other for an hour", async (t) => {
  const hour = 60 * 60 * 1_000;
  const waitOf = async (seconds: number, kind: "poll" | "action") => {
    const definition = { actions: { act: { request: { url } } }, poll: { request: { url }, events: [{ raise: {} }] } };
    const headers = { "retry-after": String(seconds) };
    const { run } = requesting(integrationRows(definition), () => ({ status: 429, headers }));
    return (await run(kind === "poll" ? { block: { kind } } : {})).retryAfterMs;
  };
  t.equal(await waitOf(7_200, "poll"), 2 * hour);
  t.equal(await waitOf(1_000_000, "poll"), 24 * hour);
  t.equal(await waitOf(7_200, "action"), hour);
});
