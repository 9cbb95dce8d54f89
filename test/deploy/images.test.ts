import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import t from "tap";
import { parse } from "yaml";
import { startTestService } from "../support/service.js";
import { example, isBelow, PORT, readRunner, readSettings, release } from "./deployment.js";
import { readStages } from "./images.js";

/** Compares the Dockerfile and the Compose file with the product. No test builds or runs the images. */

interface ComposeService {
  readonly image: string;
  readonly build?: { readonly target: string };
  readonly ports?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly command?: readonly string[];
  readonly profiles?: readonly string[];
  readonly depends_on?: Readonly<Record<string, unknown>>;
}

interface Compose {
  readonly services: Readonly<Record<"service" | "mail" | "runner", ComposeService>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

const stages = readStages();
const compose: Compose = parse(example("compose.yaml"));
const { service, mail, runner } = compose.services;

t.test("the images start the product as a user that is not root, with settings that it knows", async (t) => {
  t.equal([...stages.keys()].at(-1), "service", "the service is built without a target");
  const image = stages.get("service");
  const { host, port, dataFolder } = readSettings(image?.environment ?? {});
  t.same({ host, port, ports: image?.ports }, { host: "0.0.0.0", port: PORT, ports: [PORT] });
  t.ok(isBelow(dataFolder, image?.volumes ?? []), "the store is below the volume, which may belong to root");
  for (const name of ["service", "runner"]) {
    t.match(stages.get(name), { user: /^[1-9]\d*:[1-9]\d*$/, entrypoint: ["signalbox"] });
  }
  t.same([image?.command, stages.get("runner")?.command], [["serve"], ["runner", "--help"]]);
  const { bin }: { readonly bin: { readonly signalbox: string } } = JSON.parse(readFileSync("package.json", "utf8"));
  t.match(example("Dockerfile"), `ln -s ../lib/node_modules/signalbox/${bin.signalbox} /usr/local/bin/signalbox`);
  t.match(stages.get("package")?.copies, ["signalbox-*.tgz /tmp/"]);
});

t.test("the image's health check passes while the service works, and fails without one", async (t) => {
  const { port } = await startTestService(t);
  const [program, ...args] = stages.get("service")?.healthCheck ?? [];
  t.equal(program, "node");
  const check = (at: number) =>
    promisify(execFile)(process.execPath, args, { env: { PATH: process.env.PATH, PORT: String(at) } });
  await check(port);
  await t.rejects(check(1), { code: 1 });
});

t.test("the Compose file builds the images of this release, and starts what the product knows", async (t) => {
  for (const { build, image, volumes = [], depends_on: needed = {} } of Object.values(compose.services)) {
    if (build !== undefined) {
      t.ok(stages.has(build.target));
      t.match(image, new RegExp(`^signalbox(-runner)?:${release.replaceAll(".", "\\.")}$`));
    }
    const named = volumes.filter((volume) => !volume.startsWith(".")).map((volume) => volume.split(":")[0] ?? "");
    t.same(
      named.filter((name) => !(name in compose.volumes)),
      [],
    );
    t.same(
      Object.keys(needed).filter((name) => !(name in compose.services)),
      [],
    );
  }
  const image = stages.get("service");
  const config = readSettings({ ...image?.environment, ...service.environment });
  t.same(service.ports, [`127.0.0.1:${PORT}:${config.port}`]);
  t.equal(config.baseUrl, `http://127.0.0.1:${PORT}`);
  t.same(service.volumes, [`data:${image?.volumes[0]}`]);
  t.ok(new URL(config.smtpUrl ?? "").hostname in compose.services);
  t.match(mail.ports, ["127.0.0.1:8025:8025"]);
});

t.test("the Compose file's runner connects to its service, and works in its volume", async (t) => {
  const { url, workFolder, command } = readRunner(runner.command ?? []);
  t.equal(url, `http://service:${PORT}`);
  const image = stages.get("runner");
  t.same([workFolder, runner.volumes?.[0]], [image?.volumes[0], `work:${image?.volumes[0]}`]);
  t.same(command, ["/agent/agent"]);
  t.match(runner.volumes?.[1], /^\.\/agent:\/agent/);
  t.same(Object.keys(runner.environment ?? {}), ["SIGNALBOX_POOL_TOKEN"]);
  t.match(example("README.md"), `docker compose --profile ${runner.profiles?.[0]} up`);
});

t.test("the page says that no test builds or runs them", async (t) => {
  const page = example("README.md");
  t.match(page, /\| `Dockerfile` \|.*no test builds or runs them/);
  t.match(page, /\| `compose\.yaml` \|.*no test runs them/);
  t.match(page, /## Docker and Compose\n\nNo test builds or runs these images/);
});
