import { storeIntegrationConnection } from "../../actors/integrations/connection.table.js";
import { integrationSchema } from "../../actors/integrations/definition.js";
import { integrationRequestEffect } from "../../actors/integrations/requests/integration-request.effects.js";
import type {
  IntegrationRequestInput,
  IntegrationRequestResult,
} from "../../actors/integrations/requests/integration-request.js";
import type { BytesAnswer, Unread } from "../../actors/outbound/http/http-exchange.js";
import type { AnyRequest } from "../../actors/outbound/http/request.js";
import { type ResourceRow, resourceAddresses, resources } from "../../actors/resources/resource.table.js";
import { createSealer } from "../../actors/sealer.js";
import { putMember } from "../../actors/workspaces/member.table.js";
import { address } from "../../runtime/cells/address.js";
import { RunAbort } from "../../runtime/effects/run-signal.js";
import type { Writing } from "../../storage/store.js";
import { ManualClock } from "./manual-clock.js";
import { memoryRows, seededBytes } from "./turn.js";

export const WORKSPACE = "ws_1";
export const TEAM = "team_1";
export const INTEGRATION = "int_1";

export const sealer = createSealer(new Uint8Array(32), seededBytes(3));

/** Writes a resource as the service stores it. */
export function put(rows: Writing, kind: string, id: string, of: Partial<ResourceRow>): void {
  const common = { version: 1, workspaceId: WORKSPACE, teamId: null, address: id, fields: {}, hidden: {}, added: {} };
  const row: ResourceRow = { id, kind, ...common, createdAt: "", updatedAt: "", ...of };
  resources.put(rows, row.workspaceId, [kind, id], row);
  resourceAddresses.put(rows, row.workspaceId, [kind, row.address], id);
}

/** Returns a definition with the action `act`, which sends this request. */
export function acting(request: object, more: object = {}): Readonly<Record<string, unknown>> {
  return { actions: { act: { request: { url: "https://api.example.com/items", ...request } } }, ...more };
}

/** Writes a team's integration as the service stores it, with the definition's defaults. */
export function writeIntegration(
  rows: Writing,
  definition: Readonly<Record<string, unknown>>,
  workspaceId = WORKSPACE,
): void {
  const usual = { integration: "tracker", name: "Tracker", hosts: ["api.example.com"] };
  const fields = integrationSchema.parse({ ...usual, ...definition });
  put(rows, "integration", INTEGRATION, { fields, workspaceId, teamId: TEAM, address: `core/${fields.integration}` });
}

export function writeSecret(rows: Writing, name: string, value: string, hosts: readonly string[]): void {
  const hidden = { value: sealer.seal(value) };
  put(rows, "secret", `sec_${name}`, { address: name, fields: { name, valueVersion: 1, hosts }, hidden });
}

/** Links an account to the integration: the team's account, or the account of a team member. */
export function linkAccount(
  rows: Writing,
  holder: string,
  { access, expiresAtMs = null, tokenUrl }: { access: string; expiresAtMs?: number | null; tokenUrl: string },
): void {
  const terms = {
    issuer: null,
    tokenUrl,
    revokeUrl: null,
    clientId: "c",
    clientSecret: null,
    clientAuth: "basic" as const,
    hosts: ["api.example.com"],
  };
  const sealed = sealer.seal(JSON.stringify({ access, refresh: `refresh-${access}` }));
  const linked = { sealed, canRenew: true, expiresAtMs, scopes: [], terms, account: "ada@host" };
  const at = { connectedBy: null, connectedAt: null, renewedAt: null, problem: null };
  const row = {
    integrationId: INTEGRATION,
    holder,
    state: "connected",
    linked,
    account: null,
    asks: [],
    ...at,
  } as const;
  storeIntegrationConnection(rows, WORKSPACE, row);
}

/** Returns the rows of a workspace with an integration, and with a team that Ada is on. */
export function integrationRows(definition: Readonly<Record<string, unknown>>): ReturnType<typeof memoryRows> {
  const rows = memoryRows();
  put(rows, "workspace", WORKSPACE, {});
  put(rows, "team", TEAM, { address: "core", fields: { key: "core", name: "Core" } });
  const ada = { userId: "usr_ada", email: "ada@example.com", role: "member", teams: [TEAM], since: "" } as const;
  putMember(rows, WORKSPACE, ada);
  writeIntegration(rows, definition);
  return rows;
}

/** A host's answer, or the error of its connection. A promise that never settles simulates a host that hangs. */
export type HostAnswer =
  | Error
  | Promise<never>
  | {
      readonly status?: number;
      readonly body?: unknown;
      readonly headers?: Readonly<Record<string, string>>;
      /** Why the body is incomplete, if not because of its size. */
      readonly unread?: Unread;
    };

/** Creates an in-memory host that answers with `answer`; `sent` holds the requests that it received. */
export function hostThat(answer: (request: AnyRequest) => HostAnswer) {
  const sent: AnyRequest[] = [];
  const send = async (request: AnyRequest): Promise<BytesAnswer> => {
    sent.push(request);
    const given = await answer(request);
    if (given instanceof Error) throw given;
    const { status = 200, body = "", headers = {}, unread } = given;
    const all = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
    const bytes = all.subarray(0, request.maxBodyBytes);
    const large = { kind: "size", reason: `it is larger than ${request.maxBodyBytes / 1024 ** 2} MiB` } as const;
    const why = all.length > request.maxBodyBytes ? large : unread;
    return { status, headers, bytes, ...(why === undefined ? {} : { unread: why }) };
  };
  return { sent, send };
}

/**
 * Creates the effect that sends integrations' requests. The effect reads these rows, and a simulated host answers with
 * `answer`.
 */
export function requesting(rows: Writing, answer: (request: AnyRequest) => HostAnswer = () => ({})) {
  const { sent, send } = hostThat(answer);
  const logged: string[] = [];
  const clock = new ManualClock();
  const baseUrl = () => "https://signalbox.example";
  const log = { error: (message: string) => void logged.push(message) };
  const effect = integrationRequestEffect({ reading: () => rows, outbound: { send }, sealer, clock, log, baseUrl });
  const usual: IntegrationRequestInput = {
    teamId: TEAM,
    integrationId: INTEGRATION,
    block: { kind: "action", name: "act" },
    values: "{}",
    after: null,
    actsAs: { kind: "team" },
    timeoutMs: 10_000,
    again: "never",
    lane: "waiting",
  };
  const prepare = (input: Partial<IntegrationRequestInput> = {}, mayHaveBegun = false) => {
    const context = { id: "r1", owner: address(WORKSPACE, "tester", "1"), memo: undefined, mayHaveBegun };
    return effect.prepare({ ...usual, ...input }, context);
  };
  const run = async (input?: Partial<IntegrationRequestInput>, mayHaveBegun = false) =>
    (await prepare(input, mayHaveBegun).begin(new RunAbort())) as IntegrationRequestResult;
  return { sent, logged, clock, effect, prepare, run };
}
