import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { hookReceiver } from "../../support/hook-receiver.js";
import { hook } from "../../support/hook-scene.js";
import { ManualClock } from "../../support/manual-clock.js";
import { listItems, workspaceWithTeam } from "../../support/resources.js";
import { startTestService } from "../../support/service.js";
import { until } from "../../support/until.js";

/**
 * Returns a store with a hook occurrence that waits for a retry because its receiver was down. The occurrence's task is
 * closed.
 */
async function left(t: Test) {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-not-allowed-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const clock = new ManualClock();
  let isUp = false;
  const receiver = await hookReceiver(t, (response) => response.writeHead(isUp ? 200 : 503).end("{}"));
  const open = async (outboundAllow: string) => {
    const service = await startTestService(t, { folder, clock, settings: { OUTBOUND_ALLOW: outboundAllow } });
    const owner = await service.signIn("ada@example.com");
    return { service, owner };
  };
  const { service, owner } = await open(receiver.url);
  const { teamId } = await workspaceWithTeam(owner);
  await owner.create(`/api/resources/teams/${teamId}/lines`, {
    key: "dev",
    name: "Dev",
    stations: [{ key: "work", name: "Work", kind: "work" }],
  });
  const made = await owner.create(`/api/resources/teams/${teamId}/hooks`, hook(receiver.url));
  const task = await owner.request("POST", `/api/teams/${teamId}/tasks`, { title: "Do it", line: "dev" });
  const listFirings = async (by: typeof owner) =>
    listItems(await by.request("GET", `/api/teams/${teamId}/hook-occurrences`));
  await until("the hook to wait", async () => (await listFirings(owner))[0]?.state === "waiting");
  await owner.request("POST", `/api/tasks/${String(task.body?.id)}/close`, {});
  await service.stop();
  const up = () => {
    isUp = true;
  };
  return { open, up, clock, receiver, teamId, hookId: made.id, firingsOf: listFirings };
}

t.test(
  "without its host in OUTBOUND_ALLOW a hook that waited fails with a reason, and the start says so",
  async (t) => {
    const { open, up, clock, receiver, teamId, hookId, firingsOf: listFirings } = await left(t);
    const { service, owner } = await open("");
    const line = JSON.parse((await service.logged(/^.*a hook names a host.*$/))[0]);
    const reason = `must be https, unless the deployment's outbound allow-list (OUTBOUND_ALLOW) names ${receiver.url}`;
    t.match(line, { level: "warn", address: "core/tell", hookId, step: "tell", reason });
    const warnings = async () => (await owner.request("GET", `/api/resources/hooks/${hookId}`)).body?.warnings;
    const warning = { path: "steps[0].request.url", message: `the step fails with not-allowed: ${reason}` };
    t.match(await warnings(), [warning]);

    clock.advance(2_000);
    await until("the hook to fail", async () => (await listFirings(owner))[0]?.state === "failed");
    const [failed] = await listFirings(owner);
    t.match(failed, {
      code: "superseded",
      reason,
      attempts: [{ code: "server-error" }, { code: "not-allowed", reason }],
    });

    up();
    service.allow(receiver.url);
    t.same(await warnings(), [], "the setting is back");
    const resent = await owner.request(
      "POST",
      `/api/teams/${teamId}/hook-occurrences/${String(failed?.id)}/resend`,
      {},
    );
    t.equal(resent.status, 202);
    await until("the resend to arrive", async () =>
      (await listFirings(owner)).some(({ id, state }) => id === resent.body?.id && state === "delivered"),
    );
  },
);

t.test("a start under which all hosts are allowed says nothing, and a change while it runs does", async (t) => {
  const { open, receiver } = await left(t);
  const { service } = await open(receiver.url);
  service.allow(`${receiver.url},other.example`);
  service.allow("other.example");
  await service.logged(/a hook names a host/);
  t.equal(service.logLines.filter((line) => line.includes("a hook names a host")).length, 1);
  await service.stop();
  const again = await open("other.example");
  await again.service.logged(/a hook names a host/);
});
