import t from "tap";
import {
  INSTALLATION_CHECK_EFFECT,
  installationCheckEffect,
} from "../../../../actors/code-host/installation-check.effects.js";
import { oauthEffects, REVOKE_EFFECT } from "../../../../actors/integrations/oauth.effects.js";
import { INTEGRATION_REQUEST } from "../../../../actors/integrations/requests/integration-request.effects.js";
import type { CodeHost } from "../../../../actors/outbound/code-host/code-host.js";
import {
  accountLane,
  afterEventLane,
  attachmentLane,
  beforeEventLane,
  codeHostLane,
  configEditLane,
  integrationCallLane,
  integrationWorkLane,
  issuerLane,
  mailLane,
  modelLane,
  pollLane,
} from "../../../../actors/outbound/http/lanes.js";
import { createSealer } from "../../../../actors/sealer.js";
import type { Effect } from "../../../../runtime/cells/actor-type.js";
import { address } from "../../../../runtime/cells/address.js";
import { cellName } from "../../../../runtime/cells/cell-record.js";
import { createSystemClock } from "../../../../runtime/clock.js";
import { Effects } from "../../../../runtime/effects/effects.js";
import { Lane } from "../../../../runtime/effects/lane.js";
import { createPendingEffect } from "../../../../runtime/effects/pending-effect.js";
import type { EffectRequest } from "../../../../runtime/turns/turn.js";
import { createMemoryStore } from "../../../../storage/memory-store.js";
import {
  INTEGRATION,
  integrationRows,
  put,
  requesting,
  TEAM,
  WORKSPACE,
  writeIntegration,
} from "../../../support/integration-rows.js";
import { memoryRows } from "../../../support/turn.js";
import { putLine, workspaceId } from "../../../support/work.js";

const lanes = [
  ...[accountLane, afterEventLane, beforeEventLane, codeHostLane, issuerLane, mailLane, modelLane],
  ...[integrationCallLane, integrationWorkLane, pollLane, attachmentLane],
];

t.test("whatever hangs, of 60 workspaces at five hosts each, another workspace has a place at once", async (t) => {
  for (const limits of lanes) {
    const lane = new Lane(limits);
    for (let client = 0; client < 60; client++) {
      for (let n = 0; n < 500; n++) lane.take({ client: `ws_${client}`, target: `host-${n % 5}` });
    }
    t.equal(
      lane.findBound({ client: "ws_59", target: "another" }),
      "process",
      `${limits.name} is full for those who hang`,
    );
    t.ok(lane.take({ client: "quiet", target: "host-0" }), limits.name);
  }
});

t.test("a lane is for one kind of request", async (t) => {
  t.equal(new Set(lanes.map(({ name }) => name)).size, lanes.length);
});

t.test(
  "edits of configs compute: a workspace has one at once, however many it wants, and another's begins beside it",
  async (t) => {
    const lane = new Lane(configEditLane);
    const edit = (client: string, installation: number) =>
      lane.take({ client, target: `code.example ${installation}` });
    t.same([edit("ws_1", 1), edit("ws_1", 1), edit("ws_1", 2)], [true, false, false]);
    t.ok(edit("ws_2", 3));
  },
);

/**
 * Starts many effects of one workspace, then one effect of the workspace `beside`. Returns the ids of the effects that
 * ended.
 */
async function startBeside(
  effects: readonly Effect[],
  noisy: EffectRequest,
  quiet: EffectRequest,
  beside = "ws_2",
): Promise<string[]> {
  const ended: string[] = [];
  const running = new Effects({
    effects,
    reading: createMemoryStore().reading,
    clock: createSystemClock(),
    defer: (work) => work(),
    ended: ({ id }) => void ended.push(id),
  });
  const start = (partition: string, request: EffectRequest) => {
    const owner = address(partition, "owner", "1");
    const pending = createPendingEffect({ to: owner, name: cellName(owner) }, request, 0);
    running.register(pending);
    running.enqueue(pending);
  };
  for (let n = 0; n < 1_000; n++) start(workspaceId, { ...noisy, id: `noisy-${n}` });
  start(beside, { ...quiet, id: "quiet" });
  while (ended.length === 0) await new Promise((resolve) => setImmediate(resolve));
  return ended;
}

const never = new Promise<never>(() => undefined);

t.test("a host of linked accounts that hangs holds up no other workspace's", async (t) => {
  const rows = memoryRows();
  putLine(rows);
  const sealer = createSealer(new Uint8Array(32), (count) => new Uint8Array(count));
  const sealed = sealer.seal(JSON.stringify({ access: "access", refresh: null }));
  const terms = {
    issuer: "https://hangs.example",
    tokenUrl: null,
    revokeUrl: null,
    clientId: "signalbox",
    clientSecret: null,
    clientAuth: "body" as const,
    hosts: ["hangs.example"],
  };
  const effects = oauthEffects({
    reading: () => rows,
    sealer,
    clock: createSystemClock(),
    log: { error: () => undefined },
    outbound: { get: () => never, post: () => never },
    servers: { read: () => never },
  });
  // The quiet workspace (`ws_2`) is closed, so its effect ends without a request.
  const noisy = REVOKE_EFFECT.request("", { workspaceId, sealed, terms });
  const quiet = REVOKE_EFFECT.request("", { workspaceId: "ws_2", sealed, terms });
  t.same(await startBeside(effects, noisy, quiet), ["quiet"]);
});

t.test("questions to the code host that hang hold up no other workspace's", async (t) => {
  const codeHost = { name: "code.example", installation: (id: number) => (id === 1 ? never : Promise.resolve(null)) };
  const effects = [installationCheckEffect(codeHost as unknown as CodeHost)];
  const check = (installationId: number) =>
    INSTALLATION_CHECK_EFFECT.request("", { host: "code.example", installationId });
  t.same(await startBeside(effects, check(1), check(2)), ["quiet"]);
});

t.test("hosts of integrations that hang hold up no other workspace, and no other host of their own", async (t) => {
  const definition = {
    hosts: ["hangs.example", "answers.example"],
    actions: {
      act: { request: { url: "https://hangs.example" } },
      other: { request: { url: "https://answers.example" } },
    },
  };
  for (const lane of ["waiting", "background"] as const) {
    const rows = integrationRows(definition);
    put(rows, "workspace", "ws_2", { workspaceId: "ws_2" });
    writeIntegration(rows, definition, "ws_2");
    const { effect, sent } = requesting(rows, ({ url }) => (url.host === "hangs.example" ? never : { status: 200 }));
    const request = (name: string) =>
      INTEGRATION_REQUEST.request("", {
        teamId: TEAM,
        integrationId: INTEGRATION,
        block: { kind: "action", name },
        values: "{}",
        after: null,
        actsAs: { kind: "team" },
        timeoutMs: 10_000,
        again: "never",
        lane,
      });
    t.same(await startBeside([effect], request("act"), request("other")), ["quiet"], `${lane}: another workspace`);
    t.same(
      await startBeside([effect], request("act"), request("other"), WORKSPACE),
      ["quiet"],
      `${lane}: another host`,
    );
    const hanging = sent.filter(({ url }) => url.host === "hangs.example").length;
    t.ok(hanging <= 2 * integrationCallLane.perTarget, "a host has the places of one target");
  }
});
