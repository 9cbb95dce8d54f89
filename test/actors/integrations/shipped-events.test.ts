import { createHmac } from "node:crypto";
import t, { type Test } from "tap";
import { DYN } from "../../../actors/expressions/cel-types.js";
import type { Names } from "../../../actors/expressions/evaluate.js";
import { evaluateText } from "../../../actors/expressions/templates.js";
import { toValue } from "../../../actors/expressions/values.js";
import { integrationSchema } from "../../../actors/integrations/definition.js";
import { type ApiRequest, startLoopbackApi } from "../../../http/demo/loopback-api.js";
import { startChat } from "../../support/chat.js";
import { startIssues } from "../../support/issues.js";
import { shippedIntegration } from "../../support/shipped-integrations.js";
import { startTracker } from "../../support/tracker.js";

/** Tests how a shipped definition evaluates a delivery with the signature and form that the real sender uses. */

interface Judged {
  readonly isSigned: boolean;
  /** The time when the delivery was sent; null if the definition reads no signed time. */
  readonly at: unknown;
  readonly isMine: boolean;
  readonly isAnswered: boolean;
  readonly key: unknown;
  /** The raised events: the opened task's title, the note, and the mark. */
  readonly raised: readonly { readonly title: unknown; readonly say: unknown; readonly mark: unknown }[];
}

/** Starts a receiver that records its requests. */
async function receiver(t: Test) {
  const sink = await startLoopbackApi(() => ({ status: 202 }));
  t.teardown(() => sink.close());
  return sink;
}

/** Evaluates a delivery under a shipped definition, as the service does. */
function judge(file: string, secret: string, request: ApiRequest | undefined): Judged {
  if (request === undefined) throw new Error("nothing was delivered");
  const { webhook } = integrationSchema.parse(shippedIntegration(file).definition);
  const hmac = webhook?.verify?.hmac;
  if (webhook === null || hmac === null || hmac === undefined) throw new Error(`${file} verifies nothing`);
  const names: Names = {
    body: toValue(JSON.parse(request.text), DYN),
    headers: toValue(request.headers, DYN),
    raw: request.text,
  };
  const read = (text: string | null) => {
    const outcome = text === null ? { value: null } : evaluateText(text, names);
    return "error" in outcome ? null : outcome.value;
  };
  const signed = hmac.signed === null ? request.text : String(read(hmac.signed));
  const expected = hmac.prefix + createHmac(hmac.algorithm, secret).update(signed).digest(hmac.encoding);
  const raising = webhook.events.filter(({ when }) => read(when) === true);
  return {
    isSigned: request.headers[hmac.header] === expected,
    at: read(hmac.freshness?.at ?? null),
    isMine: read(webhook.mine) === true,
    isAnswered: read(webhook.respond?.when ?? null) === true,
    key: read(webhook.delivery),
    raised: raising.map(({ raise }) => ({
      title: read(raise.opens?.title ?? null),
      say: read(raise.say),
      mark: read(Object.values(raise.marks)[0]?.value ?? null),
    })),
  };
}

t.test(
  "the tracker: what has the label opens once, comments and moves are said, and what is ours is left out",
  async (t) => {
    const tracker = await startTracker(t, () => 1_700_000_000_000);
    const sink = await receiver(t);
    tracker.deliverTo = sink.url;
    const last = () => judge("tracker/integration.json", tracker.secret, sink.requests.at(-1));

    const issue = await tracker.open({ title: "Login fails" }, ["agent"]);
    const opened = { title: "ENG-1: Login fails", say: null, mark: issue.id };
    t.match(last(), { isSigned: true, at: 1_700_000_000_000, isMine: false, key: /^[0-9a-f-]{36}$/, raised: [opened] });
    const other = await tracker.open({});
    t.same(last().raised, [], "without the label nothing is opened");
    await tracker.label(other, "bug");
    t.same(last().raised, [], "nor for another label");
    await tracker.label(other, "agent");
    t.same(last().raised, [{ title: "ENG-2: It fails", say: null, mark: other.id }]);
    await tracker.label(other, "urgent");
    t.same(last().raised, [], "nor once more for a label beside it");
    await tracker.comment(issue, "Since Monday.");
    t.same(last().raised, [{ title: null, say: "Ada commented on the issue:\n\nSince Monday.", mark: issue.id }]);
    await tracker.move(issue, "In Progress");
    t.same(last().raised, [{ title: null, say: "Ada moved the issue to In Progress.", mark: issue.id }]);

    const { key } = last();
    await tracker.repeat();
    t.equal(last().key, key, "a delivery that is repeated has the same key");
    const body = { query: "mutation C($input: I) { commentCreate(input: $input) { success } }" };
    const variables = { input: { issueId: issue.id, body: "Done." } };
    await fetch(`${tracker.api.url}/graphql`, {
      method: "POST",
      headers: { authorization: tracker.key },
      body: JSON.stringify({ ...body, variables }),
    });
    await sink.arrived(/POST/, 9);
    t.equal(last().isMine, true);
  },
);

t.test("the chat: the challenge is answered, mentions open in a thread, and replies to it are said", async (t) => {
  const chat = await startChat(t, () => 1_700_000_000_000);
  const sink = await receiver(t);
  const last = () => judge("chat/integration.json", chat.secret, sink.requests.at(-1));

  await chat.subscribe(sink.url);
  t.match(last(), { isSigned: true, at: "1700000000", isAnswered: true });
  const { ts } = await chat.say("C0123456789", { text: `${chat.mention} mend it` });
  const text = "<@U061F7AUR> wrote:\n\n<@U0LAN0Z89> mend it";
  t.match(last(), { isSigned: true, isMine: false, isAnswered: false, key: /^Ev/, raised: [{ say: text, mark: ts }] });
  t.same(judge("chat/integration.json", chat.secret, sink.requests.at(-2)).raised, [], "and is no reply as well");
  await chat.say("C0123456789", { text: "Since Monday.", thread: ts });
  t.same(last().raised, [{ title: null, say: "<@U061F7AUR> wrote:\n\nSince Monday.", mark: ts }]);
  await chat.say("C0123456789", { text: "What a day." });
  t.same(last().raised, [], "a message in no thread is nothing");
  const post = { channel: "C0123456789", thread_ts: ts, text: "Done." };
  const headers = { authorization: `Bearer ${chat.token}` };
  await fetch(`${chat.api.url}/api/chat.postMessage`, { method: "POST", headers, body: JSON.stringify(post) });
  await sink.arrived(/POST/, 6);
  t.match(last(), { isMine: true, raised: { length: 0 } });
});

t.test(
  "the issues: the label opens, also of one that is opened with it, and comments are said but our own",
  async (t) => {
    const issues = await startIssues(t);
    const sink = await receiver(t);
    issues.deliverTo(sink.url);
    const last = (back = 1) => judge("issues/integration.json", issues.secret, sink.requests.at(-back));

    const { issue } = await issues.open("Login fails", ["agent"]);
    const opened = { title: "Login fails", say: null, mark: issues.toUrl(issue) };
    t.match(last(2), { isSigned: true, isMine: false, key: /^[0-9a-f-]{36}$/, raised: [opened] });
    t.match(last(1), { isSigned: true, raised: [opened] }, "the second is about the task of the first, by its mark");
    await issues.label(issue, "bug");
    t.same(last().raised, []);
    await issues.comment(issue, "Since Monday.");
    t.same(last().raised, [{ title: null, say: "ada commented on the issue:\n\nSince Monday.", mark: opened.mark }]);
    await issues.comment(issue, "Done.\n\n<!-- signalbox -->");
    t.equal(last().isMine, true);
    await issues.close(issue);
    t.match(last().raised, [{ say: /has closed the issue\.$/, mark: opened.mark }]);
  },
);
