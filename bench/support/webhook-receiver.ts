import { createHmac } from "node:crypto";
import { CLOSE, OPEN } from "../../actors/expressions/templates.js";
import { deliveryIntakeRef } from "../../actors/integration-work/deliveries/delivery.messages.js";
import type { IntakeContext } from "../../actors/integration-work/intake/delivery-intake.js";
import { type CellRecord, cellKey } from "../../runtime/cells/cell-record.js";
import type { BenchService } from "./bench-service.js";

export const SECRET = "0123456789abcdef0123456789abcdef";

/** The workspace and team of an integration. */
type Place = Pick<BenchService, "workspaceId" | "teamId">;

/** An integration that receives deliveries. */
export interface Receiver extends Place {
  readonly id: string;
  /** The path for the integration's deliveries. */
  readonly path: string;
}

const expression = (cel: string) => `${OPEN} ${cel} ${CLOSE}`;

/**
 * Creates an integration with a verified webhook and one event. The event matches the deliveries for which the
 * expression `when` is true, and opens a task.
 */
export async function readReceiver(
  service: BenchService,
  when: string,
  { workspaceId, teamId }: Place = service,
): Promise<Receiver> {
  const within = `/api/resources/workspaces/${workspaceId}`;
  const team = `/api/resources/teams/${teamId}`;
  const key = (what: string) => `${teamId}-${what}`;
  const stations = [{ key: "work", name: "Work", kind: "work" }];
  await service.create(`${team}/lines`, { key: "dev", name: "Dev", stations }, key("line"));
  await service.create(`${within}/secrets`, { name: "key", value: SECRET, valueVersion: 1 }, key("secret"));
  const raise = {
    opens: { line: "dev", title: expression("body.issue.title") },
    marks: { issue: { value: expression("string(body.issue.id)") } },
  };
  const webhook = {
    verify: { hmac: { secret: "key", header: "x-signature" } },
    delivery: expression('headers["x-delivery"]'),
    events: [{ when: expression(when), raise }],
  };
  const fields = { integration: "tracker", name: "T", webhook };
  const { id } = await service.create(`${team}/integrations`, fields, key("integration"));
  return { workspaceId, teamId, id, path: `/api/integrations/${id}/deliveries` };
}

/** Returns a delivery body of about 1 KB, like a tracker's message about an issue. */
export function issueBody(n: number): string {
  return JSON.stringify({ action: "opened", issue: { id: n, title: `Issue ${n}`, text: "It fails. ".repeat(90) } });
}

/** Returns a signed delivery request, with `{n}` as its key. */
export function toDeliveryRequest(path: string, body: string): string {
  const signature = createHmac("sha256", SECRET).update(body).digest("hex");
  const head = [`POST ${path} HTTP/1.1`, "Host: 127.0.0.1", "Content-Type: application/json"];
  const own = ["X-Delivery: {n}", `X-Signature: ${signature}`, `Content-Length: ${Buffer.byteLength(body)}`];
  return `${[...head, ...own].join("\r\n")}\r\n\r\n${body}`;
}

/**
 * Waits until the integration has no waiting or running delivery. Reads the rows instead of sending a request: a
 * request would count as a second active client, and the service would shorten its scheduling rounds for ten seconds.
 */
export async function workedOff({ runtime }: BenchService, { workspaceId, id }: Receiver): Promise<void> {
  const key = cellKey(deliveryIntakeRef(workspaceId, id));
  const backlog = () => (runtime.reading.get<CellRecord>(key)?.state?.context as IntakeContext | undefined)?.backlog;
  while (backlog() !== 0) await new Promise((go) => setTimeout(go, 10));
}
