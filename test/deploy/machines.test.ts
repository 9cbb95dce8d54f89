import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import t from "tap";
import { parse } from "yaml";
import { RUNNER_PROTOCOL } from "../../actors/runners/protocol.js";
import { startTestService } from "../support/service.js";
import { example, HOST, PORT, readRunner, readSettings, release } from "./deployment.js";

/**
 * Compares the systemd units, the proxies' configuration files and the pages with the product. `peers.ts` tests the
 * same units and files with the real programs.
 */

/** Returns the values of all lines with this name in a unit. */
function linesOf(unit: string, name: string): readonly string[] {
  return [...example(`systemd/${unit}`).matchAll(new RegExp(`^${name}=(.*)$`, "gm"))].map(([, value = ""]) => value);
}

t.test("the service's unit and its settings file have settings that the service knows", async (t) => {
  t.same(linesOf("signalbox.service", "ExecStart"), ["/usr/local/bin/signalbox serve"]);
  const environment = Object.fromEntries(
    linesOf("signalbox.service", "Environment").map((line) => line.split(/=(.*)/s)),
  );
  const { SETTINGS_FILE: file, ...others } = environment;
  const config = readSettings({ ...others, ...parseEnv(example("systemd/settings")) });
  t.same(linesOf("signalbox.service", "StateDirectory"), [config.dataFolder.replace("/var/lib/", "")]);
  t.equal(config.baseUrl, `https://${HOST}`);
  t.ok(Number(linesOf("signalbox.service", "TimeoutStopSec")) > 9 + 5);
  t.match(example("README.md"), `systemd/settings ${file}`);
});

t.test("the runner's unit starts a runner in its own folder, and signals the runner alone", async (t) => {
  const [start = ""] = linesOf("signalbox-runner.service", "ExecStart");
  const [program, ...words] = start.split(" ");
  t.equal(program, "/usr/local/bin/signalbox");
  const { url, workFolder, command } = readRunner(words);
  t.equal(url, `https://${HOST}`);
  t.same(linesOf("signalbox-runner.service", "StateDirectory"), [workFolder.replace("/var/lib/", "")]);
  t.equal(command.length, 1);
  t.same(linesOf("signalbox-runner.service", "KillMode"), ["mixed"]);
  t.match(example("README.md"), `pool's token in \`${linesOf("signalbox-runner.service", "EnvironmentFile")}\``);
});

t.test("Traefik's files lead from its entry point to the service, whose path for health checks answers", async (t) => {
  const fixed = parse(example("proxy/traefik.yaml"));
  const dynamic = parse(example("proxy/traefik-signalbox.yaml"));
  const { rule, entryPoints, service, tls } = dynamic.http.routers.signalbox;
  t.equal(rule, `Host(\`${HOST}\`)`);
  t.same(
    entryPoints.filter((name: string) => !(name in fixed.entryPoints)),
    [],
  );
  t.ok(tls.certResolver in fixed.certificatesResolvers);
  const { servers, healthCheck } = dynamic.http.services[service].loadBalancer;
  t.same(servers, [{ url: `http://127.0.0.1:${PORT}` }]);
  const { anonymous } = await startTestService(t);
  t.equal((await anonymous.request("GET", healthCheck.path)).status, 200);
  t.match(example("proxy/traefik-signalbox.yaml"), `For ${fixed.providers.file.filename}.`);
  const { http, address } = fixed.entryPoints.web;
  t.same([address, http.redirections.entryPoint], [":80", { to: entryPoints[0], scheme: "https" }]);
  t.match(example("README.md"), /No test runs the Traefik files/);
});

t.test("each proxy forwards to the service's port, and names the settings that the service needs", async (t) => {
  for (const name of ["nginx.conf", "Caddyfile", "traefik.yaml"]) {
    const text = example(`proxy/${name}`);
    if (name !== "traefik.yaml") t.match(text, `127.0.0.1:${PORT}`, name);
    const [, settings = ""] = /The service has (.*)\.$/m.exec(text) ?? [];
    const config = readSettings(parseEnv(settings.replaceAll(" and ", "\n")) as Record<string, string>);
    t.match(config, { baseUrl: `https://${HOST}`, trustedProxies: "127.0.0.1" }, name);
  }
});

t.test("the pages name this release and the runner's protocol", async (t) => {
  t.match(example("upgrade.md"), `It is **${RUNNER_PROTOCOL}** in every release so far`);
  t.match(readFileSync("CHANGELOG.md", "utf8"), new RegExp(`^## ${release.replaceAll(".", "\\.")}$`, "m"));
  t.match(example("README.md"), `signalbox-${release}.tgz`);
});
