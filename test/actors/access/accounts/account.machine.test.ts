import t from "tap";
import { accountActor } from "../../../../actors/access/accounts/account.machine.js";
import {
  findEmailByLink,
  findSessionCaller,
  findUser,
  SESSION_MS,
} from "../../../../actors/access/accounts/session.queries.js";
import { SIGN_IN_LINK_MS } from "../../../../actors/access/accounts/session.table.js";
import { MAIL_EFFECT } from "../../../../actors/outbound/mail/mail.effects.js";
import { address } from "../../../../runtime/cells/address.js";
import type { Message } from "../../../../runtime/turns/turn.js";
import { GLOBAL_PARTITION } from "../../../../storage/keys.js";
import { type Stepping, stepByHand, type TurnTaken } from "../../../support/turn.js";

const MINUTE_MS = 60_000;

function account(): Stepping {
  return stepByHand(accountActor, address(GLOBAL_PARTITION, "account", "ada@example.com"));
}

const send = (name: string, source = "here"): Message =>
  ({ type: "link.send", tokenHash: name, sealedMail: `sealed ${name}`, source }) as Message;
const open = (link: string, session: string): Message =>
  ({ type: "session.open", linkHash: link, sessionHash: session }) as Message;
const close = (session: string): Message => ({ type: "session.close", sessionHash: session }) as Message;

const rename = (name: string): Message => ({ type: "name.set", name }) as Message;

/** Returns the message of a due wake-up, as the runtime delivers it. */
function woken(name: string, dueMs: number): Message {
  return { type: "woken", name, dueMs } as Message;
}

function ended(mail: string, sent: boolean): Message {
  const result = sent ? { ok: true, output: null } : { ok: false, error: "not sent" };
  return { type: "effect.ended", effect: MAIL_EFFECT.name, id: mail, result } as Message;
}

const toMail = (taken: TurnTaken): string => taken.started[0]?.id ?? "";

t.test("in every state, each message does what the table says", async (t) => {
  const unknown = () => account();
  const known = () => {
    const ada = account();
    ada.take(send("first"));
    ada.take(open("first", "session"));
    return ada;
  };
  const live = (make: () => Stepping) => () => {
    const ada = make();
    ada.take(send("link"));
    return ada;
  };
  const cases: readonly (readonly [string, () => Stepping, Message, string, boolean])[] = [
    ["unknown, link.send", unknown, send("link"), "unknown", true],
    ["unknown, session.open live", live(unknown), open("link", "s"), "known", true],
    ["unknown, session.open not live", unknown, open("link", "s"), "unknown", true],
    ["unknown, session.close", unknown, close("s"), "unknown", false],
    ["unknown, name.set", unknown, rename("Ada"), "unknown", false],
    ["unknown, woken", live(unknown), woken("expire", 0), "unknown", true],
    ["unknown, effect.ended", live(unknown), ended("none", true), "unknown", true],
    ["known, link.send", known, send("link"), "known", true],
    ["known, session.open live", live(known), open("link", "s"), "known", true],
    ["known, session.open not live", known, open("link", "s"), "known", true],
    ["known, session.close", known, close("session"), "known", true],
    ["known, name.set", known, rename("Ada"), "known", true],
    ["known, woken", known, woken("expire", 0), "known", true],
    ["known, effect.ended", known, ended("none", false), "known", true],
  ];
  for (const [name, make, message, state, isTaken] of cases) {
    const ada = make();
    t.equal(ada.take(message).taken, isTaken, name);
    t.equal(ada.value, state, name);
  }
});

t.test("a source is sent five mails while their links last, and keeps no other from its own", async (t) => {
  const ada = account();
  const tooMany = (name: string, source: string) => ada.take(send(name, source)).answer;
  for (let count = 0; count < 5; count++) t.equal(tooMany(`one ${count}`, "one"), undefined);
  ada.now += MINUTE_MS;
  t.match(tooMany("one more", "one"), { refused: "too-many-requests", retryAfterSeconds: 14 * 60 });
  for (let count = 0; count < 15; count++) t.equal(tooMany(`crowd ${count}`, `crowd ${count % 3}`), undefined);
  ada.now += MINUTE_MS;
  t.equal(tooMany("ada's own", "two"), undefined, "there are twenty, and she may have one");
  t.match(tooMany("ada's second", "two"), { refused: "too-many-requests", retryAfterSeconds: 15 * 60 });
  t.match(ada.take(open("ada's own", "session")).answer, { userId: /^usr_/ });
  t.equal(tooMany("ada's next", "two"), undefined, "the one before is used up");
  for (let count = 0; count < 79; count++) t.equal(tooMany(`botnet ${count}`, `botnet ${count}`), undefined);
  t.match(tooMany("the last", "three"), { refused: "too-many-requests", retryAfterSeconds: 13 * 60 });
  ada.now += 13 * MINUTE_MS;
  ada.take(woken("expire", ada.now));
  t.equal(tooMany("another", "one"), undefined, "those of the first minute are over");
});

t.test("a link is kept by its hash, and its mail is an effect that holds it sealed", async (t) => {
  const ada = account();
  const taken = ada.take(send("hash"));
  t.match(taken.started, [{ name: MAIL_EFFECT.name, id: /^mail_/, input: "sealed hash" }]);
  t.equal(findEmailByLink(ada.rows, "hash", ada.now), "ada@example.com");
  t.same(taken.wakes, [{ name: "expire", dueMs: ada.now + SIGN_IN_LINK_MS }]);
});

t.test("the first session creates the account, later ones use it", async (t) => {
  const ada = account();
  ada.take(send("one"));
  const first = ada.take(open("one", "s1")).answer as { readonly userId: string };
  ada.take(send("two"));
  t.same(ada.take(open("two", "s2")).answer, first);
  t.same(findUser(ada.rows, first.userId), { userId: first.userId, email: "ada@example.com", name: "ada" });
  t.match(findSessionCaller(ada.rows, "s2", ada.now), { kind: "person", userId: first.userId });
});

t.test("a used link and an expired one are refused with the same answer", async (t) => {
  const ada = account();
  ada.take(send("used"));
  ada.take(open("used", "s1"));
  ada.take(send("old"));
  ada.now += SIGN_IN_LINK_MS;
  const answers = [ada.take(open("used", "s2")), ada.take(open("old", "s3")), ada.take(open("never", "s4"))];
  for (const { answer, started, sent } of answers) {
    t.match(answer, { refused: "unauthenticated" });
    t.same([started, sent], [[], []]);
  }
  t.same([answers[0]?.intents, answers[2]?.intents], [[], []], "nothing is written");
  t.equal(new Set(answers.map(({ answer }) => JSON.stringify(answer))).size, 1);
});

t.test("a session ends with a sign-out, with its time, or when the person has too many", async (t) => {
  const ada = account();
  const signIn = (name: string) => {
    ada.take(send(`link ${name}`));
    ada.take(open(`link ${name}`, name));
  };
  signIn("out");
  ada.take(close("out"));
  t.equal(findSessionCaller(ada.rows, "out", ada.now), null);
  signIn("oldest");
  for (let count = 0; count < 50; count++) signIn(`s${count}`);
  t.equal(findSessionCaller(ada.rows, "oldest", ada.now), null);
  t.ok(findSessionCaller(ada.rows, "s0", ada.now));
  ada.now += SESSION_MS;
  t.equal(findSessionCaller(ada.rows, "s49", ada.now), null);
  ada.take(woken("expire", ada.now));
  t.equal(ada.rows.range({ prefix: [GLOBAL_PARTITION, "row", "session"] }).length, 0, "and its row goes");
});

t.test("a wake-up removes expired links and sessions, and sets the next one", async (t) => {
  const ada = account();
  const began = ada.now;
  ada.take(send("one"));
  ada.now += MINUTE_MS;
  ada.take(send("two"));
  ada.now = began + SIGN_IN_LINK_MS;
  const taken = ada.take(woken("expire", ada.now));
  t.same(taken.wakes, [{ name: "expire", dueMs: began + MINUTE_MS + SIGN_IN_LINK_MS }]);
  t.equal(ada.rows.range({ prefix: [GLOBAL_PARTITION, "row", "sign-in-link"] }).length, 1);
});

t.test("a sixth link within the lifetime of the first is refused until that one expires", async (t) => {
  const ada = account();
  for (let count = 0; count < 5; count++) ada.take(send(`link ${count}`));
  const refused = ada.take(send("sixth"));
  t.match(refused.answer, { refused: "too-many-requests", retryAfterSeconds: 15 * 60 });
  t.same([refused.started, refused.wakes], [[], []]);
  ada.now += SIGN_IN_LINK_MS;
  t.equal(ada.take(send("later")).started.length, 1);
});

t.test("a failed mail is sent again after 5, 30 and 120 seconds under its id, and then no more", async (t) => {
  const ada = account();
  const mail = toMail(ada.take(send("link")));
  for (const waitMs of [5_000, 30_000, 120_000]) {
    const failed = ada.take(ended(mail, false));
    t.same(failed.wakes, [{ name: `mail ${mail}`, dueMs: ada.now + waitMs }]);
    ada.now += waitMs;
    t.same(ada.take(woken(`mail ${mail}`, ada.now)).started, [
      { name: MAIL_EFFECT.name, id: mail, input: "sealed link" },
    ]);
  }
  t.same(ada.take(ended(mail, false)).wakes, []);
  t.same(ada.take(woken(`mail ${mail}`, ada.now)).started, []);
});

t.test("a failed mail whose link would have expired by then is not sent again", async (t) => {
  const ada = account();
  const mail = toMail(ada.take(send("link")));
  ada.now += SIGN_IN_LINK_MS - 1_000;
  t.same(ada.take(ended(mail, false)).wakes, []);
});

t.test("a mail that was sent is removed", async (t) => {
  const ada = account();
  const mail = toMail(ada.take(send("link")));
  ada.take(ended(mail, true));
  t.notMatch(JSON.stringify(ada.context()), /sealed/);
});

t.test("a link that was refused as too old stays so when the clock, which was ahead, is put right", async (t) => {
  const ada = account();
  for (const name of ["refused", "unused"]) ada.take(send(name));
  const began = ada.now;
  ada.now += SIGN_IN_LINK_MS;
  t.match(ada.take(open("refused", "s1")).answer, { refused: "unauthenticated" });
  ada.now = began;
  t.match(ada.take(open("refused", "s1")).answer, { refused: "unauthenticated" });
});

t.test("links that were sent while the clock was ahead keep nobody from another once it is put right", async (t) => {
  const ada = account();
  const began = ada.now;
  ada.now += SESSION_MS;
  for (let count = 0; count < 5; count++) ada.take(send(`link ${count}`));
  t.match(ada.take(send("sixth")).answer, { refused: "too-many-requests" });
  ada.now = began;
  t.equal(ada.take(send("seventh")).started.length, 1);
  t.match(ada.take(open("link 0", "s1")).answer, { userId: /^usr_/ }, "and they admit");
});

t.test("a user's name is the start of the address until it is set; the same name again writes nothing", async (t) => {
  const ada = account();
  ada.take(send("first"));
  const { userId } = ada.take(open("first", "session")).answer as { readonly userId: string };
  const findName = () => findUser(ada.rows, userId)?.name;
  t.equal(findName(), "ada");
  ada.take(rename("Ada Lovelace"));
  t.equal(findName(), "Ada Lovelace");
  const row = findUser(ada.rows, userId);
  ada.take(rename("Ada Lovelace"));
  t.equal(findUser(ada.rows, userId), row);
  ada.take(send("second"));
  ada.take(open("second", "other"));
  t.equal(findName(), "Ada Lovelace", "a later sign-in keeps it");
});
