import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { listSteps, openDocsScene } from "../support/docs-scene.js";
import { makeKeys, startIssuer } from "../support/issuer.js";
import { until } from "../support/until.js";

t.test(
  "the page leads to a runner that works a task, to pools, and to a runner that joins by its host's token",
  async (t) => {
    const issuer = await startIssuer(t, await makeKeys(["ES256"]));
    const place = await openDocsScene(t, { settings: { OUTBOUND_ALLOW: issuer.url } });
    const { ada, reader, values } = place;
    const machine = mkdtempSync(join(tmpdir(), "signalbox-machine-"));
    t.teardown(() => rmSync(machine, { recursive: true, force: true, maxRetries: 5 }));
    const [agent, token] = [join(machine, "agent"), join(machine, "token")];
    writeFileSync(agent, "#!/bin/sh\necho working at $SIGNALBOX_STATION\n", { mode: 0o755 });
    writeFileSync(token, await issuer.token({ sub: "system:serviceaccount:runners:runner", aud: "signalbox" }));
    mkdirSync(join(machine, "acme"));
    symlinkSync(reader.repository, join(machine, "acme/app.git"));

    const listRunners = async () => (await ada.request("GET", "/api/workspaces/acme/runners")).body?.items;
    const untilConnected = (name: string) =>
      until(`the runner ${name} to connect`, async () =>
        JSON.stringify(await listRunners()).includes(`"name":"${name}"`),
      );
    const shown: string[] = [];
    await reader.follow("docs/runners.md", {
      values: {
        ...values,
        "/srv/git": machine,
        "/usr/local/bin/agent": agent,
        "/var/run/secrets/tokens/signalbox": token,
        "https://kubernetes.example": issuer.url,
      },
      after: async ({ code, isBackground }, { out, err }) => {
        if (isBackground) await untilConnected(/--name (\S+)/.exec(code)?.[1] ?? "");
        shown.push(out + err);
      },
    });
    const [, , worked, file, pools, tried, , , status] = shown;
    t.match(worked, /main +pull +1 +2 of 2/);
    t.match(worked, /station work: The tests fail\n.*done/s);
    t.same(await listSteps(place), ["working at work", "working at review"]);
    t.match(file, /^runner\.mjs: OK\n.*--trust-token-file/s);
    t.match(pools, /created runner-pool gpu\ncreated workspace-runners acme\n.*gpu\.json; only you can read it/s);
    t.match(tried, /created runner-trust cluster\n.*cluster.*sub.*system:serviceaccount:runners:runner/s);
    t.match(status, /runners +2 connected, 3 of 3 slots free/);
    t.match(await listRunners(), [
      { name: "build-1", pool: "main", labels: ["linux"], slots: 2 },
      { name: "pod-1", pool: "gpu", labels: [] },
    ]);
  },
);
