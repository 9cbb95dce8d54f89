import { hash, randomBytes } from "node:crypto";
import { Agent } from "undici";
import { createCallbackToken } from "../../actors/hooks/delivery/callback-token.js";
import { signMessage } from "../../actors/hooks/delivery/delivery-request.js";
import { MAX_OUTPUT_BYTES } from "../../actors/hooks/delivery/hook-answer.js";
import type { HookOccurrence } from "../../actors/hooks/hook-occurrence.js";
import { hookOccurrences, storeEnded } from "../../actors/hooks/hook-occurrence.table.js";
import { parseAllowList } from "../../actors/outbound/http/allow-list.js";
import { createOutbound } from "../../actors/outbound/http/request.js";
import { createSealer } from "../../actors/sealer.js";
import type { PublishingWriting } from "../../actors/tables/on-write.js";
import type { Change, Key, Store } from "../../storage/store.js";
import { type Deliverer, SECRET, toWork } from "./hook-events.js";

/**
 * Creates the baseline deliverer, which does only what every durable delivery needs: it stores the event, sends a
 * signed request, and stores the answer.
 */
export function openLeast(store: Store, url: string): Deliverer {
  const agent = new Agent({ connections: 64, pipelining: 1 });
  const deliver = async (n: number): Promise<void> => {
    const work = toWork(n, "ws_1", "team_1");
    const { event, occurrence, on, task } = work;
    await store.commit([{ op: "put", key: ["ws_1", "row", "event", occurrence], value: work }]);
    const content = JSON.stringify({ hook: "bench", on, occurrence, event, task, run: null });
    const id = `msg_${n}`;
    const timestamp = Math.floor(Date.now() / 1_000);
    const headers = {
      "content-type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": String(timestamp),
      "webhook-signature": signMessage(SECRET, { id, timestamp, body: content }),
    };
    const signal = AbortSignal.timeout(10_000);
    const { statusCode, body } = await agent.request({
      origin: url,
      path: "/",
      method: "POST",
      headers,
      body: content,
      signal,
    });
    const answer = { status: statusCode, body: await body.text() };
    await store.commit([{ op: "put", key: ["ws_1", "row", "result", occurrence], value: answer }]);
  };
  return { deliver, close: () => agent.destroy() };
}

/** Like `openLeast`, but with the full request and the full record of a Signalbox delivery. */
export function openAlike(store: Store, url: string): Deliverer {
  const outbound = createOutbound({ allowList: parseAllowList(url), maxBodyBytes: MAX_OUTPUT_BYTES });
  const sealer = createSealer(randomBytes(32), randomBytes);
  const deliver = async (n: number): Promise<void> => {
    const work = toWork(n, "ws_1", "team_1");
    const { event, occurrence, on, task, workspaceId, teamId } = work;
    const id = `${occurrence}-bench`;
    const nowMs = Date.now();
    const at = new Date(nowMs).toISOString();
    const begun = new Changes();
    const firing: HookOccurrence = {
      id,
      hookId: "hook_1",
      hook: "bench",
      work,
      firedAt: at,
      state: "attempting",
      code: null,
      reason: null,
      refused: null,
      endedAt: null,
      retryAt: null,
      resends: null,
      resentAs: null,
    };
    hookOccurrences.insert(begun, workspaceId, firing);
    const change = hash("sha256", JSON.stringify(["hook_1", task.id, null, { ...event, at: "" }]), "base64url");
    begun.put([workspaceId, "row", "hook-change-fired", 1, task.id, change.slice(0, 22)], [nowMs]);
    await store.commit(begun.changes);
    const body = JSON.stringify({ hook: "bench", on, occurrence, event, task, run: null });
    const webhookId = `msg_${n}_tell`;
    const timestamp = Math.floor(nowMs / 1_000);
    const headers = {
      "content-type": "application/json",
      "user-agent": "Service-Hooks/1",
      "webhook-id": webhookId,
      "webhook-timestamp": String(timestamp),
      "webhook-signature": signMessage(SECRET, { id: webhookId, timestamp, body }),
      "service-hook": "bench",
      "service-callback-url": "http://localhost/api/hook-callbacks",
      "service-callback-token": createCallbackToken(sealer, { workspaceId, hookOccurrenceId: id, nowMs }),
    };
    const signal = new AbortController().signal;
    const answer = await outbound.post({ url: new URL(url), headers, body, timeoutMs: 10_000, signal });
    const requestHeaders = { ...headers, "webhook-signature": "(left out)", "service-callback-token": "(left out)" };
    const ended = new Changes();
    const tookMs = Date.now() - nowMs;
    const { status, body: text } = answer;
    storeEnded(
      ended,
      workspaceId,
      { teamId, id, hookId: "hook_1", hook: "bench", on, state: "attempting", retryAt: null },
      {
        state: "delivered",
        code: null,
        refused: null,
        endedAt: new Date().toISOString(),
        attempt: { n: 1, step: "tell", at, tookMs, requestHeaders, status, body: text, code: null, reason: null },
      },
    );
    await store.commit(ended.changes);
  };
  return { deliver, close: () => outbound.close() };
}

/** Rows to commit together. */
class Changes implements PublishingWriting {
  readonly changes: Change[] = [];

  put(key: Key, value: unknown): void {
    this.changes.push({ op: "put", key, value });
  }

  remove(key: Key): void {
    this.changes.push({ op: "remove", key });
  }

  publishRow(): void {}

  get(): undefined {
    return undefined;
  }

  range(): [] {
    return [];
  }
}
