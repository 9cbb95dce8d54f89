import t from "tap";
import { parseAllDocuments } from "yaml";
import { settings } from "../../http/process/config.js";
import { startTestService } from "../support/service.js";
import { example, HOST, isBelow, PORT, readRunner, readSettings, release } from "./deployment.js";
import { readStages } from "./images.js";

/** Compares the Kubernetes manifests with the product and the images. No test applies the manifests. */

interface Named {
  readonly name: string;
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface Container {
  readonly image: string;
  readonly args?: readonly string[];
  readonly env?: readonly {
    readonly name: string;
    readonly valueFrom: { readonly secretKeyRef: Named & { key: string } };
  }[];
  readonly envFrom?: readonly { readonly configMapRef?: Named; readonly secretRef?: Named }[];
  readonly ports: readonly (Named & { readonly containerPort: number })[];
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly volumeMounts: readonly (Named & { readonly mountPath: string })[];
}

interface Manifest {
  readonly kind: string;
  readonly metadata: Named;
  readonly data: Readonly<Record<string, string>>;
  readonly spec: {
    readonly replicas: number;
    readonly selector: { readonly matchLabels: object };
    readonly template: {
      readonly metadata: { readonly labels: object };
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly securityContext: { readonly runAsUser: number; readonly runAsGroup: number; readonly fsGroup: number };
        readonly containers: readonly [Container];
        readonly volumes: readonly Named[];
      };
    };
    readonly volumeClaimTemplates?: readonly { readonly metadata: Named }[];
  };
}

function readManifests(file: string): ReadonlyMap<string, Manifest> {
  const documents = parseAllDocuments(example(`kubernetes/${file}`));
  const manifests = documents.map((document): Manifest => {
    if (document.errors.length > 0) throw document.errors[0];
    return document.toJS();
  });
  return new Map(manifests.map((manifest) => [manifest.kind, manifest]));
}

function manifestOf(manifests: ReadonlyMap<string, Manifest>, kind: string): Manifest {
  const found = manifests.get(kind);
  if (found === undefined) throw new Error(`there is no ${kind}`);
  return found;
}

const manifests = readManifests("service.yaml");
const set = manifestOf(manifests, "StatefulSet");
const pod = set.spec.template.spec;
const [service] = pod.containers;
const runners = manifestOf(readManifests("runner.yaml"), "Deployment");
const [runner] = runners.spec.template.spec.containers;
const page = example("README.md");
/** The names of the values in each secret that the page's commands create. */
const secrets = new Map(
  page
    .split("kubectl ")
    .filter((command) => command.startsWith("create secret generic "))
    .map((command) => [
      command.split(/\s/)[3] ?? "",
      [...command.matchAll(/--from-literal=(\w+)=/g)].map(([, key = ""]) => key),
    ]),
);

t.test("the service has one pod, of this release's image, with settings that it knows", async (t) => {
  t.equal(set.spec.replicas, 1);
  t.equal(service.image, `signalbox:${release}`);
  const [{ configMapRef } = {}, { secretRef } = {}] = service.envFrom ?? [];
  const map = manifestOf(manifests, "ConfigMap");
  t.equal(configMapRef?.name, map.metadata.name);
  const config = readSettings({ ...readStages().get("service")?.environment, ...map.data });
  t.equal(config.baseUrl, `https://${HOST}`);
  const mounts = service.volumeMounts.map(({ mountPath }) => mountPath);
  t.ok(isBelow(config.dataFolder, mounts), "the store is below its volume, which belongs to root");
  const keys = secrets.get(secretRef?.name ?? "") ?? [];
  t.same(keys, ["SECRETS_KEY", "METRICS_TOKEN"]);
  t.ok(keys.every((key) => key in settings));
});

t.test("its probes, its service and its ingress name the port and paths that answer", async (t) => {
  t.same(service.ports, [{ name: "http", containerPort: PORT }]);
  const { anonymous } = await startTestService(t);
  for (const { httpGet } of [service.startupProbe, service.livenessProbe, service.readinessProbe]) {
    t.equal(httpGet.port, "http");
    t.equal((await anonymous.request("GET", httpGet.path)).status, 200, httpGet.path);
  }
  t.match(manifestOf(manifests, "Service"), {
    metadata: { name: "signalbox" },
    spec: { selector: set.spec.template.metadata.labels, ports: [{ name: "http", port: PORT, targetPort: "http" }] },
  });
  const backend = { service: { name: "signalbox", port: { name: "http" } } };
  t.match(manifestOf(manifests, "Ingress"), {
    spec: { tls: [{ hosts: [HOST] }], rules: [{ host: HOST, http: { paths: [{ path: "/", backend }] } }] },
  });
});

t.test("runners are of this release's image, connect to the service, and get their token from a secret", async (t) => {
  t.equal(runner.image, `signalbox-runner:${release}`);
  const { url, workFolder } = readRunner(runner.args ?? []);
  t.equal(url, `http://signalbox:${PORT}`);
  const mounts = runner.volumeMounts.map(({ mountPath }) => mountPath);
  t.ok(isBelow(workFolder, mounts));
  t.same(
    runner.env?.map(({ name, valueFrom: { secretKeyRef } }) => [name, secretKeyRef.name, secretKeyRef.key]),
    [["SIGNALBOX_POOL_TOKEN", "signalbox-runner", "SIGNALBOX_POOL_TOKEN"]],
  );
  t.same(secrets.get("signalbox-runner"), ["SIGNALBOX_POOL_TOKEN"]);
});

t.test("pods run as the images' user, select themselves, mount what they have, and end after the drain", async (t) => {
  const stages = readStages();
  for (const [{ spec }, stage] of [
    [set, "service"],
    [runners, "runner"],
  ] as const) {
    t.same(spec.selector.matchLabels, spec.template.metadata.labels);
    const { securityContext, containers, volumes, terminationGracePeriodSeconds } = spec.template.spec;
    t.equal(`${securityContext.runAsUser}:${securityContext.runAsGroup}`, stages.get(stage)?.user);
    t.equal(securityContext.fsGroup, securityContext.runAsGroup);
    const claims = (spec.volumeClaimTemplates ?? []).map(({ metadata }) => metadata.name);
    const known = [...volumes.map(({ name }) => name), ...claims];
    t.same(containers[0].volumeMounts.map(({ name }) => name).sort(), known.sort());
    t.ok(terminationGracePeriodSeconds > 9 + 5);
  }
});

t.test("the page says that no test applies them", async (t) => {
  t.match(page, /\| `kubernetes\/` \|.*no test applies them/);
  t.match(page, /## Kubernetes\n\nNo test applies these manifests/);
});
