import t from "tap";
import { readJson } from "../../../../actors/exact-json.js";
import { deliveryMethods } from "../../../../actors/outbound/code-host/code-host-deliveries.js";

t.test("the number of a delivery keeps its digits, however long it is, and asks for that delivery again", async (t) => {
  const asked: string[] = [];
  const sent = (id: string) => `{"id":${id},"guid":"g","delivered_at":"2026-01-01T00:00:00Z","status_code":500}`;
  const ids = ["7", "9007199254740993", "18446744073709551617"];
  const deliveries = deliveryMethods({
    name: "the code host",
    apiUrl: "https://host",
    appToken: async () => "token",
    ask: async ({ url, method }: { url: string; method?: string }) => {
      asked.push(url);
      return { status: method === "POST" ? 202 : 200, json: readJson(`[${ids.map(sent)}]`), etag: null, next: null };
    },
  } as unknown as Parameters<typeof deliveryMethods>[0]);
  const { ids: listed } = await deliveries.listDeliveries(null);
  t.same(
    listed.map(({ id }) => id),
    ids,
  );
  for (const { id } of listed) await deliveries.redeliver(id);
  t.match(asked.at(-1), /\/18446744073709551617\/attempts$/);
  t.match(asked.at(-2), /\/9007199254740993\/attempts$/);
});
