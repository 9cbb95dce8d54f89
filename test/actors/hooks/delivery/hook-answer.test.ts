import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import t, { type Test } from "tap";
import type { WorkEvent } from "../../../../actors/events/catalogue.js";
import { type DeliveryInput, deliveryEffect } from "../../../../actors/hooks/delivery/delivery.effects.js";
import type { DeliveryResult } from "../../../../actors/hooks/delivery/delivery-result.js";
import { SIGNING_SECRET } from "../../../../actors/hooks/delivery/secret-rotation.machine.js";
import { hookSchema } from "../../../../actors/hooks/hook.js";
import { type HookOccurrenceContext, toStepOutcome } from "../../../../actors/hooks/step-outcome.js";
import { parseAllowList } from "../../../../actors/outbound/http/allow-list.js";
import { NetworkRequests } from "../../../../actors/outbound/http/network-requests.js";
import { createOutbound } from "../../../../actors/outbound/http/request.js";
import { createRequests } from "../../../../http/runner/connection/network-requests.js";
import { RunnerNetworkHost } from "../../../../http/runners/network-host.js";
import { address } from "../../../../runtime/cells/address.js";
import { createSystemClock } from "../../../../runtime/clock.js";
import { RunAbort } from "../../../../runtime/effects/run-signal.js";
import { hookSecret } from "../../../support/hook-receiver.js";
import { integrationRows, put, sealer, TEAM, WORKSPACE } from "../../../support/integration-rows.js";

const task = { id: "task_1", title: "Mend", url: "", line: "dev", station: "Work", stationKey: "work" };
const work = {
  on: "run.starting",
  occurrence: "occ_1",
  workspaceId: WORKSPACE,
  teamId: TEAM,
  lineId: "line_1",
  stationId: "sta_1",
  task: { ...task, marks: {}, repositories: [], pullRequest: null },
  run: { id: "run_1" },
  event: { at: "2026-01-01T00:00:00.000Z" },
  causes: [],
} as WorkEvent;

type Answer = (response: ServerResponse) => void;

const refusal = '{"refuse":"not today"}';
const sent =
  (bytes: Uint8Array | string, headers: Record<string, string | string[]> = {}): Answer =>
  (response) =>
    response.writeHead(200, headers).end(bytes);
const utf16 = (text: string) => Buffer.from(text, "utf16le");
const padded = (bytes: number) => refusal.replace("{", `{"why":"${"x".repeat(bytes - refusal.length - 9)}",`);
const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
const MIB = 1024 * 1024;

/** Returns a function that sends a hook request, from the service or a runner, to a receiver that gives this answer. */
async function arrange(t: Test, answer: Answer, from: "service" | "network") {
  const server = createServer((request, response) => {
    request.resume();
    answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const outbound = createOutbound({ allowList: parseAllowList(url), maxBodyBytes: 16 * 1024 });
  const requests = createRequests();
  const clock = createSystemClock();
  const network = new NetworkRequests(clock);
  const host = new RunnerNetworkHost(network);
  host.join(WORKSPACE, (request) => {
    void requests.make({ frame: "request", ...request }).then((response) => host.answer(response));
    return true;
  });
  t.teardown(async () => {
    host.leave();
    await Promise.all([outbound.close(), requests.close()]);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const rows = integrationRows({});
  const steps = [{ name: "one", request: { url, from } }];
  const fields = hookSchema.parse({ key: "tell", on: "run.starting", steps, signing: { secretVersion: 1 } });
  const hidden = { [SIGNING_SECRET]: sealer.seal(hookSecret) };
  put(rows, "hook", "hook_1", { fields: { ...fields }, hidden, teamId: TEAM, address: "core/tell" });
  const effect = deliveryEffect({
    reading: () => rows,
    outbound,
    network,
    clock,
    sealer,
    tokens: null,
    rotates: false,
    baseUrl: () => "https://signalbox.example",
    newId: () => "id",
  });
  return async (isBefore: boolean, timeoutMs = 30_000): Promise<DeliveryResult> => {
    const owner = address(WORKSPACE, "hook-occurrence", "occ_1-hook_1");
    const context = { id: "1", owner, memo: work, mayHaveBegun: false };
    const deadline = isBefore ? { deadlineMs: clock.now() + 60_000 } : {};
    const input: DeliveryInput = { teamId: TEAM, hookId: "hook_1", step: 0, timeoutMs, ...deadline };
    return (await effect.prepare(input, context).begin(new RunAbort())) as DeliveryResult;
  };
}

/** Returns the outcome of this result for a hook on an event with `before` timing. */
function toOutcome(result: DeliveryResult, failure: "block" | "continue") {
  const context: HookOccurrenceContext = {
    hookId: "hook_1",
    hook: "tell",
    on: "run.starting",
    teamId: TEAM,
    attempt: 1,
    mostAttempts: 1,
    step: 0,
    requests: 1,
    steps: ["one"],
    timeoutMs: 10_000,
    leftMs: 10_000,
    blocks: failure === "block",
    deadlineMs: 1,
    gate: { key: "k", replyTo: address(WORKSPACE, "run", "run_1") },
  };
  const { next, code, refused } = toStepOutcome(result, context);
  return { next, code, refused };
}

/** Refusals in the forms that receivers send; the service reads each of them. */
const refusals: Readonly<Record<string, Answer>> = {
  plain: sent(refusal),
  gzip: sent(gzipSync(refusal), { "content-encoding": "gzip" }),
  deflate: sent(deflateSync(refusal), { "content-encoding": "deflate" }),
  br: sent(brotliCompressSync(refusal), { "content-encoding": "br" }),
  "two codings": sent(brotliCompressSync(gzipSync(refusal)), { "content-encoding": "gzip, br" }),
  "a byte order mark": sent(`\ufeff${refusal}`),
  "a byte order mark in gzip": sent(gzipSync(`\ufeff${refusal}`), { "content-encoding": "gzip" }),
  "UTF-16 with a mark": sent(utf16(`\ufeff${refusal}`)),
  "UTF-16, big endian": sent(utf16(`\ufeff${refusal}`).swap16()),
  "UTF-16 without a mark": sent(utf16(refusal), { "content-type": "application/json; charset=utf-16" }),
  "UTF-16 without a word": sent(utf16(refusal)),
  "a label that is wrong": sent(refusal, { "content-type": "application/json; charset=utf-16" }),
  "a label that is unknown": sent(refusal, { "content-type": "application/json; charset=x-none" }),
  "over 16 KiB": sent(padded(17_000)),
  "of 1 MiB": sent(padded(MIB)),
  "over 16 KiB in gzip": sent(gzipSync(padded(MIB)), { "content-encoding": "gzip" }),
  "with a list that is nested deep": sent(refusal.replace("}", `,"x":${nested(20_000)}}`)),
  "a status of 201": (response) => response.writeHead(201).end(refusal),
};

/** Answers that the service cannot read completely and that may contain a refusal. */
const unreadable: Readonly<Record<string, readonly [Answer, RegExp]>> = {
  "over 1 MiB": [sent(padded(MIB + 1)), /it is larger than 1 MiB$/],
  "over 1 MiB in gzip": [sent(gzipSync(padded(MIB + 1)), { "content-encoding": "gzip" }), /it is larger than 1 MiB$/],
  "a coding that is not known": [sent(refusal, { "content-encoding": "snappy" }), /content coding snappy is not/],
  "a coding that it has not": [sent(refusal, { "content-encoding": "gzip" }), /cannot be decoded/],
  "JSON with a number that is too long": [
    sent(refusal.replace("}", `,"n":${"1".repeat(1_200)}}`)),
    /its JSON is nested too/,
  ],
  "JSON with a long number, nested too deep": [
    sent(refusal.replace("}", `,"n":12345678901234567890,"x":${nested(1_100)}}`)),
    /its JSON is nested too deeply/,
  ],
  "JSON with half a character, nested too deep": [
    sent(refusal.replace("}", `,"n":"\\ud800","x":${nested(20_000)}}`)),
    /its JSON is nested too deeply/,
  ],
  "cut gzip": [sent(gzipSync(refusal).subarray(0, 20), { "content-encoding": "gzip" }), /cannot be decoded/],
  "gzip without a word": [sent(gzipSync(refusal)), /it is not valid UTF-8$/],
  "a charset that is not known": [
    sent(
      Buffer.from(refusal).map((byte) => byte ^ 0x80),
      { "content-type": "text/plain; charset=x-ebcdic" },
    ),
    /the charset x-ebcdic is not supported$/,
  ],
  "cut off": [
    (response) => response.writeHead(200, { "content-length": 99 }).write(refusal, () => response.destroy()),
    /the connection broke before its end/,
  ],
  "cut off in chunks": [
    (response) => response.writeHead(200).write(refusal, () => response.destroy()),
    /the connection broke before its end/,
  ],
};

/** An answer that is not a refusal counts as consent. */
const consents: Readonly<Record<string, Answer>> = {
  empty: sent(""),
  "empty, with a coding": sent("", { "content-encoding": "gzip" }),
  "no content": (response) => response.writeHead(204).end(),
  "an object": sent("{}"),
  "an empty refusal": sent('{"refuse":""}'),
  "no JSON": sent("ok: refuse"),
  "no JSON, in gzip": sent(gzipSync("ok"), { "content-encoding": "gzip" }),
  "no JSON, over 16 KiB": sent("x".repeat(20_000)),
  "JSON in Latin-1": sent(Buffer.from('{"said":"não"}', "latin1")),
};

for (const from of ["service", "network"] as const) {
  const by = from === "service" ? "the service" : "a runner";

  t.test(`a refusal is read however it is sent, when ${by} asks`, async (t) => {
    for (const [name, answer] of Object.entries(refusals)) {
      const result = await (await arrange(t, answer, from))(true);
      const refused = "Hook tell refused. Reason: not today";
      t.same(toOutcome(result, "continue"), { next: "refused", code: null, refused }, name);
      t.ok(Buffer.byteLength(result.body) <= 16 * 1024, name);
    }
  });

  t.test(`an answer that cannot be read whole is a failed step before an event, when ${by} asks`, async (t) => {
    for (const [name, [answer, reason]] of Object.entries(unreadable)) {
      const ask = await arrange(t, answer, from);
      const result = await ask(true);
      t.match(result, { status: 200, code: "errored", reason }, name);
      t.match(toOutcome(result, "block"), { next: "failed", code: "errored", refused: reason }, name);
      t.same(toOutcome(result, "continue"), { next: "failed", code: "errored", refused: null }, name);
      t.match(await ask(false), { status: 200, code: null, reason: null }, `${name}: delivered after an event`);
    }
  });

  t.test(`an empty body and text that is no refusal are consent, when ${by} asks`, async (t) => {
    for (const [name, answer] of Object.entries(consents)) {
      const result = await (await arrange(t, answer, from))(true);
      t.same(toOutcome(result, "block"), { next: "delivered", code: null, refused: null }, name);
    }
  });
}

t.test("an answer that does not end in time is one that cannot be read whole", async (t) => {
  const ask = await arrange(t, (response) => response.writeHead(200).write(refusal), "service");
  t.match(await ask(true, 300), { status: 200, code: "errored", reason: /did not end within the time limit$/ });
  t.match(await ask(false, 300), { status: 200, code: null, reason: null });
});
