import { createHmac, randomBytes } from "node:crypto";
import { z } from "zod";
import {
  type ApiAnswer,
  type ApiRequest,
  type LoopbackApi,
  type SentDelivery,
  startLoopbackApi,
} from "../../http/demo/loopback-api.js";
import type { Cleaning } from "./service.js";

/** A chat message. */
export interface ChatMessage {
  readonly channel: string;
  /** The author's id: a person's, or the app's. */
  readonly user: string;
  readonly text: string;
  readonly ts: string;
  /** The `ts` of the thread's first message; null outside of threads. */
  readonly thread: string | null;
}

interface Said {
  readonly text: string;
  readonly thread?: string;
  readonly files?: readonly { readonly name: string; readonly type: string; readonly content: string }[];
}

/** A chat on the loopback interface: the part of Slack's API and events that the shipped integration uses. */
export interface Chat {
  readonly api: LoopbackApi;
  /** The app's bot token, and the secret that signs its events. */
  readonly token: string;
  readonly secret: string;
  /** Text that mentions the app. */
  readonly mention: string;
  readonly messages: readonly ChatMessage[];
  /**
   * Registers `address` as the request URL, as a person does on the app's settings page. Resolves with the service's
   * answer to the challenge.
   */
  subscribe(address: string): Promise<SentDelivery & { readonly challenge: string }>;
  /** Posts a person's message in a channel or a thread; resolves with the answers to the resulting events. */
  say(channel: string, said: Said): Promise<{ readonly ts: string; readonly sent: readonly SentDelivery[] }>;
  /** Sends the last event again, as the chat does when an answer is late. */
  repeat(): Promise<SentDelivery>;
}

const [APP, BOT, BOT_ID, PERSON, TEAM] = ["A0KRD7HC3", "U0LAN0Z89", "B0LAN0Z89", "U061F7AUR", "T061EG9R6"];
const FIRST_SECOND = 1_515_449_522;

const posted = z.object({ channel: z.string(), text: z.string(), thread_ts: z.string().optional() });

/** Starts a chat; `now` is the clock for its deliveries' timestamps. */
export async function startChat(t: Cleaning, now: () => number = Date.now): Promise<Chat> {
  const token = `xoxb-${randomBytes(20).toString("hex")}`;
  const secret = randomBytes(16).toString("hex");
  const messages: ChatMessage[] = [];
  const files = new Map<string, string>();
  let address = "";
  let events = 0;
  let last: readonly [headers: Readonly<Record<string, string>>, body: string] = [{}, ""];
  const nextTs = () => `${FIRST_SECOND + messages.length}.000016`;

  const send = (body: string): Promise<SentDelivery> => {
    const at = String(Math.floor(now() / 1_000));
    const signature = createHmac("sha256", secret).update(`v0:${at}:${body}`).digest("hex");
    last = [{ "x-slack-request-timestamp": at, "x-slack-signature": `v0=${signature}` }, body];
    return api.deliver(address, ...last);
  };
  const event = (inner: Readonly<Record<string, unknown>>): Promise<SentDelivery> => {
    events += 1;
    const authorizations = [{ enterprise_id: null, team_id: TEAM, user_id: BOT, is_bot: true }];
    const about = { team_id: TEAM, api_app_id: APP, event: inner, type: "event_callback", authorizations };
    return send(JSON.stringify({ ...about, event_id: `Ev0LAN670${events}`, event_time: Math.floor(now() / 1_000) }));
  };
  const post = (text: string): ApiAnswer => {
    const read = posted.safeParse(JSON.parse(text));
    if (!read.success) return { status: 200, json: { ok: false, error: "invalid_arguments" } };
    const { channel, thread_ts: thread } = read.data;
    if (!/^C/.test(channel)) return { status: 200, json: { ok: false, error: "channel_not_found" } };
    const message = { channel, user: BOT, text: read.data.text, ts: nextTs(), thread: thread ?? null };
    messages.push(message);
    const shown = { type: "message", user: BOT, bot_id: BOT_ID, text: message.text, ts: message.ts, channel };
    const inThread = thread === undefined ? {} : { thread_ts: thread };
    event({ ...shown, ...inThread, bot_profile: { id: BOT_ID, app_id: APP, name: "signalbox" } }).catch(
      () => undefined,
    );
    return { status: 200, json: { ok: true, channel, ts: message.ts, message: shown } };
  };
  const answer = ({ method, path, query, headers, text }: ApiRequest): ApiAnswer => {
    if (headers.authorization !== `Bearer ${token}`) return { status: 200, json: { ok: false, error: "invalid_auth" } };
    const file = files.get(path);
    if (file !== undefined) return { status: 200, text: file };
    if (method === "POST" && path === "/api/chat.postMessage") return post(text);
    if (method !== "GET" || path !== "/api/conversations.replies") return { status: 404, text: "Not found" };
    const found = messages.filter(({ channel, ts, thread }) => {
      return channel === query.get("channel") && [ts, thread].includes(query.get("ts"));
    });
    return {
      status: 200,
      json: { ok: true, messages: found.map(({ user, text, ts }) => ({ type: "message", user, text, ts })) },
    };
  };
  const api = await startLoopbackApi(answer);
  t.teardown(() => api.close());
  const share = ({
    name,
    type,
    content,
  }: {
    readonly name: string;
    readonly type: string;
    readonly content: string;
  }) => {
    const path = `/files-pri/${TEAM}-F${files.size}/${name}`;
    files.set(path, content);
    return { id: `F${files.size}`, name, mimetype: type, size: content.length, url_private: `${api.url}${path}` };
  };
  return {
    api,
    token,
    secret,
    messages,
    mention: `<@${BOT}>`,
    subscribe: async (to) => {
      address = to;
      const challenge = randomBytes(16).toString("hex");
      return { ...(await send(JSON.stringify({ token: "old", challenge, type: "url_verification" }))), challenge };
    },
    say: async (channel, { text, thread, files: shared = [] }) => {
      const ts = nextTs();
      messages.push({ channel, user: PERSON, text, ts, thread: thread ?? null });
      const listed = shared.length === 0 ? {} : { files: shared.map(share), subtype: "file_share" };
      const message = {
        user: PERSON,
        text,
        ts,
        channel,
        event_ts: ts,
        ...(thread && { thread_ts: thread }),
        ...listed,
      };
      // The chat sends one event for every message in a channel, and a second one for a message that mentions the app.
      const sent = [await event({ type: "message", channel_type: "channel", ...message })];
      if (text.includes(BOT)) sent.push(await event({ ...message, type: "app_mention" }));
      return { ts, sent };
    },
    repeat: () => api.deliver(address, { ...last[0], "x-slack-retry-num": "1" }, last[1]),
  };
}
