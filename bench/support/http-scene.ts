import type { BenchService } from "./bench-service.js";

/** Number of resources in each list. */
export const LISTED = 200;

/** One kind of request, as bytes, and its expected answer. */
export interface Exchange {
  readonly title: string;
  readonly what: string;
  readonly request: string;
  readonly status: number;
  readonly answer: string;
  /** A request rate below the capacity of every server except `node`. */
  readonly pacedPerSecond: number;
  /**
   * A resource of the workspace that another client writes during the measurement: its path, and the body without its
   * version.
   */
  readonly written?: { readonly path: string; readonly body: object };
}

/** The requests to a service, and the data that a compared server ({@link Rival}) needs to give the same answers. */
export interface HttpScene {
  readonly bearer: string;
  readonly exchanges: readonly Exchange[];
  /** The listed resources, by the kind in their path. */
  readonly resources: Readonly<Record<string, readonly Listed[]>>;
}

/** A resource as a list contains it. */
export interface Listed {
  readonly id: string;
}

/** Fills the service's workspace with a line, {@link LISTED} secrets and {@link LISTED} hooks, which carry warnings. */
export async function arrangeScene(service: BenchService): Promise<HttpScene> {
  const within = `/api/resources/workspaces/${service.workspaceId}`;
  const ofTeam = `/api/resources/teams/${service.teamId}`;
  const stations = [{ key: "work", name: "Work", kind: "work" }];
  await service.create(`${ofTeam}/lines`, { key: "dev", name: "Dev", stations }, "line");
  for (let n = 0; n < LISTED; n++) {
    await service.create(`${within}/secrets`, secret(`listed-${n}`), `secret-${n}`);
    await service.create(`${ofTeam}/hooks`, hook(`listed-${n}`), `hook-${n}`);
  }
  const secrets = await service.get(`${within}/secrets`);
  const hooks = await service.get(`${within}/hooks`);
  const resources = { secrets: itemsIn(secrets), hooks: itemsIn(hooks) };
  return { bearer: service.bearer, resources, exchanges: listExchanges(service.bearer, within, { secrets, hooks }) };
}

function listExchanges(
  bearer: string,
  within: string,
  { secrets, hooks }: { readonly secrets: string; readonly hooks: string },
): Exchange[] {
  const [one] = itemsIn(secrets);
  const path = `/api/resources/secrets/${one?.id}`;
  const head = (line: string, ...more: readonly string[]) =>
    `${[line, ...more, "Host: 127.0.0.1", `Authorization: ${bearer}`].join("\r\n")}\r\n\r\n`;
  const body = JSON.stringify(secret("secret-{n}"));
  const toList = (kind: string, answer: string, pacedPerSecond: number) => ({
    what: `GET of ${LISTED} ${kind} in address order, ${Math.round(answer.length / 1_024)} KiB`,
    request: head(`GET ${within}/${kind} HTTP/1.1`),
    status: 200,
    answer,
    pacedPerSecond,
  });
  return [
    {
      title: "HTTP reads",
      what: "GET of one secret with a token: authenticated, permitted, read from the store",
      request: head(`GET ${path} HTTP/1.1`),
      status: 200,
      answer: JSON.stringify(one),
      pacedPerSecond: 10_000,
    },
    { title: `HTTP lists of ${LISTED}`, ...toList("secrets", secrets, 2_000) },
    { title: `HTTP lists of ${LISTED} with warnings`, ...toList("hooks", hooks, 500) },
    {
      title: `HTTP lists of ${LISTED} beside writes`,
      ...toList("secrets", secrets, 2_000),
      written: { path, body: secret("listed-0") },
    },
    {
      title: "HTTP creates",
      what: "POST of a secret under an idempotency key: sealed, one turn, on disk (fsync) before the answer",
      request: `${head(
        `POST ${within}/secrets HTTP/1.1`,
        "Content-Type: application/json",
        "Idempotency-Key: key-{n}",
        `Content-Length: ${body.length - "{n}".length + 9}`,
      )}${body}`,
      status: 201,
      answer: JSON.stringify(one),
      pacedPerSecond: 1_000,
    },
  ];
}

function itemsIn(list: string): readonly Listed[] {
  return (JSON.parse(list) as { readonly items: readonly Listed[] }).items;
}

const secret = (name: string) => ({ name, value: "0123456789abcdef", valueVersion: 1, hosts: [] });

const hook = (key: string) => ({
  key,
  on: "task.moved",
  match: { lines: ["dev"] },
  // The service overrides this header and adds a warning about it.
  steps: [{ name: "tell", request: { url: "https://hooks.example.com/in", headers: { "user-agent": "acme" } } }],
  signing: { secret: `whsec_${Buffer.alloc(32, 7).toString("base64")}`, secretVersion: 1 },
});
