import { join } from "node:path";
import t from "tap";
import { poolToken } from "../../../http/runner/connection/credential.js";
import { startRunner } from "../../../http/runner/runner.js";
import { ManualClock } from "../../support/manual-clock.js";
import { until } from "../../support/until.js";
import { ProtocolService } from "./protocol-service.js";
import { sceneFolder } from "./run-scene.js";

t.test("a runner without a connection that has nothing to report ends at once", async (t) => {
  const service = await ProtocolService.start(t);
  for (const url of [service.url, "http://127.0.0.1:1"]) {
    const folder = sceneFolder(t);
    const said: string[] = [];
    const start = () =>
      startRunner({
        url,
        credential: poolToken("another token"),
        name: "tester",
        labels: [],
        slots: 4,
        command: [],
        passEnv: [],
        workFolder: join(folder, "work"),
        gitUrl: join(folder, "repositories/{name}"),
        // The test never advances the clock, so the runner must not wait for any time to pass.
        clock: new ManualClock(),
        random: () => 0.5,
        instance: "0123456789abcdef",
        log: (line) => said.push(line),
      });
    const runner = await start();
    await until("its attempt", () => said.some((line) => /rejected|retrying/.test(line)));
    await runner.drain();
    await (await start()).drain();
    t.notOk(
      said.some((line) => line.includes("before the connection was established")),
      "that it gives up is no failure",
    );
  }
});
