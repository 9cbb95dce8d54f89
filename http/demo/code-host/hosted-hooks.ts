import { createHmac, randomUUID } from "node:crypto";
import type { HostedReply } from "./hosted-reply.js";
import type { HostedEvent } from "./hosted-work.js";

/** An attempt to deliver an event. An attempt is also recorded if there is no address to send the event to. */
interface HostedDelivery {
  readonly id: number;
  /** The same id for all attempts of a delivery. */
  readonly guid: string;
  readonly event: HostedEvent;
  readonly redelivery: boolean;
  readonly delivered_at: string;
  /** 0 if there was no address or no answer. */
  readonly status_code: number;
}

/** The app's webhook. It sends deliveries in the order and number that the caller chooses: once, twice or never. */
export class HostedHooks {
  /** The address for deliveries. If it is null, deliveries are lost. */
  url: string | null = null;
  /** All attempts, oldest first. */
  readonly attempts: HostedDelivery[] = [];
  readonly #secret: string;
  readonly #now: () => number;

  constructor(secret: string, now: () => number) {
    this.#secret = secret;
    this.#now = now;
  }

  /** Returns the headers of a signed delivery. */
  headers(event: string, body: string, guid: string): Record<string, string> {
    return {
      "content-type": "application/json",
      "x-github-event": event,
      "x-github-delivery": guid,
      "x-hub-signature-256": `sha256=${createHmac("sha256", this.#secret).update(body).digest("hex")}`,
    };
  }

  /** Delivers an event; resolves with the answer's status, or 0 without an answer. */
  async send(event: HostedEvent, guid: string = randomUUID(), redelivery = false): Promise<number> {
    const body = JSON.stringify(event.payload);
    const headers = this.headers(event.event, body, guid);
    const status = this.url === null ? 0 : await post(this.url, headers, body);
    const delivered_at = new Date(this.#now()).toISOString();
    const id = this.attempts.length + 1;
    this.attempts.push({ id, guid, event, redelivery, delivered_at, status_code: status });
    return status;
  }

  /** Answers the app's request to `/app/hook/…`. */
  async answer(method: string, path: string, query: URLSearchParams): Promise<HostedReply> {
    const [, number, rest] = /^\/app\/hook\/deliveries(?:\/(\d+)(\/attempts)?)?$/.exec(path) ?? [];
    if (number === undefined) return { status: 200, json: this.#page(query) };
    const attempt = this.attempts.find(({ id }) => id === Number(number));
    if (attempt === undefined) return { status: 404, json: { message: "Not Found" } };
    if (rest === undefined) return { status: 200, json: toJson(attempt) };
    if (method !== "POST") return { status: 404, json: { message: "Not Found" } };
    await this.send(attempt.event, attempt.guid, true);
    return { status: 202, json: {} };
  }

  /**
   * Returns a page of the delivery attempts, newest first. The cursor in the query is the id of the previous page's
   * last attempt.
   */
  #page(query: URLSearchParams) {
    const before = Number(query.get("cursor") ?? Number.MAX_SAFE_INTEGER);
    const wanted = query.get("status");
    const isWanted = ({ status_code }: HostedDelivery) =>
      wanted === null || (wanted === "success") === (status_code >= 200 && status_code < 400);
    const older = this.attempts.filter((one) => one.id < before && isWanted(one)).reverse();
    return older.slice(0, Number(query.get("per_page") ?? 30)).map(toJson);
  }
}

async function post(url: string, headers: Record<string, string>, body: string): Promise<number> {
  return fetch(url, { method: "POST", headers, body }).then(
    async (answer) => {
      await answer.arrayBuffer();
      return answer.status;
    },
    () => 0,
  );
}

function toJson({ id, guid, event, redelivery, delivered_at, status_code }: HostedDelivery) {
  const { action = null, installation } = event.payload as { action?: string; installation?: { id: number } };
  return {
    id,
    guid,
    delivered_at,
    redelivery,
    status_code,
    event: event.event,
    action,
    duration: 0.1,
    status: status_code >= 200 && status_code < 400 ? "OK" : "failed",
    installation_id: installation?.id ?? null,
    repository_id: null,
    throttled_at: null,
  };
}
