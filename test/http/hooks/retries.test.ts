import t from "tap";
import { hookReceiver, hookSecret } from "../../support/hook-receiver.js";
import { ManualClock } from "../../support/manual-clock.js";
import { openWorkplace } from "../../support/workplace.js";

interface Firing {
  readonly state: string;
  readonly code: string | null;
  readonly attempts: readonly { readonly n: number; readonly at: string; readonly status: number | null }[];
}

t.test(
  "an after-hook that keeps failing is tried eight times, after 2 seconds first and then twice as long",
  async (t) => {
    const clock = new ManualClock();
    const receiver = await hookReceiver(t, (response) => response.writeHead(503).end("not now"));
    const place = await openWorkplace(t, { clock, settings: { OUTBOUND_ALLOW: receiver.url } });
    await place.ada.create(`/api/resources/teams/${place.teamId}/hooks`, {
      ...{ key: "tell", on: "task.opened", steps: [{ name: "tell", request: { url: receiver.url } }] },
      signing: { secret: hookSecret, secretVersion: 1 },
    });
    const taskId = await place.open();
    const look = async () => {
      const history = await place.ada.request("GET", `/api/teams/${place.teamId}/hook-occurrences`);
      return ((history.body?.items ?? []) as readonly Firing[])[0];
    };
    const waits = [2, 4, 8, 16, 32, 64, 128];
    for (const [index, seconds] of waits.entries()) {
      await place.until(async () => {
        const firing = await look();
        return firing?.state === "waiting" && firing.attempts.length === index + 1;
      });
      clock.advance(seconds * 1_000 - 1);
      t.match(await look(), { state: "waiting" }, `not before ${seconds} seconds`);
      clock.advance(1);
      await receiver.arrived(index + 2);
    }
    await place.until(async () => (await look())?.state === "failed");
    const firing = await look();
    t.match(firing, { code: "server-error", attempts: Array.from({ length: 8 }, () => ({ status: 503 })) });
    const times = firing?.attempts.map(({ at }) => Date.parse(at)) ?? [];
    t.same(
      times.slice(1).map((at, index) => (at - (times[index] ?? 0)) / 1_000),
      waits,
    );
    clock.advance(24 * 60 * 60 * 1_000);
    await place.when(
      `task/${taskId}`,
      async () => ((await place.task(taskId)).notes as readonly unknown[]).length === 1,
    );
    t.match((await place.task(taskId)).notes, [{ from: "hook tell", text: /server-error/ }]);
    t.equal(receiver.requests.length, 8);
  },
);
