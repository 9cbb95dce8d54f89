import t from "tap";
import { IdleRunnerProcess } from "../../../bench/support/idle-runner-process.js";
import { ProtocolService } from "../../http/runner/protocol-service.js";

t.test("An idle runner keeps its lease, and a wait says what is undone once its connection has ended", async (t) => {
  const service = await ProtocolService.start(t);
  const runner = new IdleRunnerProcess({ port: Number(new URL(service.url).port), poolToken: service.token, slots: 1 });
  t.teardown(() => runner.end());

  await service.frame("hello");
  service.welcome({ leaseSeconds: 0.003 });
  await service.frame("beat");
  await runner.waitFor(async () => null, 1);

  service.cut();
  const undone = async () => "task_1 is queued";
  await t.rejects(runner.waitFor(undone, 1), {
    message: "The idle runner ended (after 0 runs its connection was closed: 1006), and task_1 is queued.",
  });
  await runner.end();
});
