import t from "tap";
import { hookReceiver, hookSecret } from "../support/hook-receiver.js";
import { ManualClock } from "../support/manual-clock.js";
import { toSlug } from "../support/resources.js";
import { openWorkplace } from "../support/workplace.js";

/** Tests "Hook callbacks" and their limits (configuration API). */

const MINUTE_MS = 60_000;
const fields = ["id", "title", "url", "line", "station", "stationKey", "marks", "repositories", "pullRequest", "hook"];

t.test("a callback token reads the task and adds notes for 15 minutes, and then is refused", async (t) => {
  const clock = new ManualClock();
  const receiver = await hookReceiver(t, (response) => response.end());
  const place = await openWorkplace(t, { clock, settings: { OUTBOUND_ALLOW: receiver.url } });
  await place.ada.create(`/api/resources/teams/${place.teamId}/hooks`, {
    key: "tell",
    on: "task.opened",
    steps: [{ name: "tell", request: { url: receiver.url } }],
    signing: { secret: hookSecret, secretVersion: 1 },
  });
  await place.open();
  const [request] = await receiver.arrived(1);
  const bearer = place.service.withToken(String(request?.headers["service-callback-token"]));
  const say = (length: number) => bearer.request("POST", "/api/hook-callbacks/notes", { body: "x".repeat(length) });

  clock.advance(15 * MINUTE_MS - 1);
  const task = await bearer.request("GET", "/api/hook-callbacks/task");
  t.same([task.status, Object.keys(task.body ?? {}).sort()], [200, [...fields].sort()]);
  const statuses = [];
  for (const length of [1, 20_000, 0, 20_001]) statuses.push((await say(length)).status);
  t.same(statuses, [204, 204, 400, 400]);

  clock.advance(1);
  for (const late of [await bearer.request("GET", "/api/hook-callbacks/task"), await say(1), await say(0)]) {
    t.same([late.status, toSlug(late)], [401, "unauthenticated"]);
  }
});
