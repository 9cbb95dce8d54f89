import { Agent } from "undici";
import type { WorkEvent } from "../../actors/events/catalogue.js";
import { signMessage } from "../../actors/hooks/delivery/delivery-request.js";
import { SECRET, toWork } from "../support/hook-events.js";
import { serveRounds } from "../support/hook-rounds.js";
import type { Answer } from "./queue.js";
import { queueSettings } from "./settings.js";

// Adds events to a queue and processes them. The arguments are the setting's name, the receiver's address and the
// server's address.
const [name = "", url = "", address = ""] = process.argv.slice(2);
const setting = queueSettings.find((each) => each.name === name);
if (setting === undefined) throw new Error(`there is no setting ${name}`);

/** A text as long as the callback token that a hook's receiver gets. */
const CALLBACK_TOKEN = "t".repeat(150);

const agent = new Agent({ connections: 64, pipelining: 1 });
const waiting = new Map<string, () => void>();
const queue = await setting.open(address, {
  deliver: send,
  ended: (occurrence) => {
    waiting.get(occurrence)?.();
    waiting.delete(occurrence);
  },
});

await serveRounds({
  deliver: async (n) => {
    const work = toWork(n, "ws_1", "team_1");
    const delivered = new Promise<void>((resolve) => waiting.set(work.occurrence, resolve));
    await queue.add(work);
    await delivered;
  },
  close: async () => {
    await queue.close();
    await agent.destroy();
  },
});

/** Sends the same request as a hook delivery of Signalbox. */
async function send(work: WorkEvent): Promise<Answer> {
  const { event, occurrence, on, task } = work;
  const content = JSON.stringify({ hook: "bench", on, occurrence, event, task, run: null });
  const id = `msg_${occurrence}_tell`;
  const timestamp = Math.floor(Date.now() / 1_000);
  const headers = {
    "content-type": "application/json",
    "user-agent": "Service-Hooks/1",
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signMessage(SECRET, { id, timestamp, body: content }),
    "service-hook": "bench",
    "service-callback-url": "http://localhost/api/hook-callbacks",
    "service-callback-token": CALLBACK_TOKEN,
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
  return { status: statusCode, body: await body.text() };
}
