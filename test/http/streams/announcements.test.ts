import t from "tap";
import type { ChangeFor, StreamTopic } from "../../../actors/access/visibility/stream-topic.js";
import type { Caller } from "../../../actors/caller.js";
import { type AnnouncementResult, Announcements } from "../../../http/streams/announcements.js";
import { ManualClock } from "../../support/manual-clock.js";
import { memoryRows } from "../../support/turn.js";
import { putLine, teamId, workspaceId } from "../../support/work.js";

const subject = { workspaceId, id: teamId };
const entry = { seq: 7, topic: "team/team_1", data: { type: "configuration", by: "usr_1" } };
const token = {
  kind: "token",
  tokenId: "tok_1",
  workspaceId,
  scopes: ["read"],
  issuedBy: "usr_1",
  trust: null,
} as const;

/** Callers by the hash of their credential. Every other credential has expired. */
const callers: Readonly<Record<string, Caller>> = {
  ...Object.fromEntries(
    ["usr_1", "usr_3"].map((userId) => [userId, { kind: "person", userId, email: "", sessionId: "ses_1" }]),
  ),
  ci: token,
  cd: { ...token, tokenId: "tok_2" },
};

function open(changes: readonly ChangeFor[] | null) {
  const rows = memoryRows();
  putLine(rows);
  let asked = 0;
  const topic: StreamTopic = {
    workspaceOf: () => workspaceId,
    audience: () => {
      asked += 1;
      return "readers";
    },
    view: () => undefined,
    ...(changes === null ? {} : { change: () => changes }),
  };
  const announcements = new Announcements({
    runtime: { reading: rows, clock: new ManualClock() },
    expired: { has: () => false },
    findCaller: ({ hash }) => callers[hash ?? ""] ?? { refused: "unauthenticated", detail: "" },
  });
  const tell = (hash: string) =>
    announcements.tell({ name: entry.topic, topic, subject }, entry, {
      credential: { kind: "token", hash },
      held: null,
    });
  return { tell, asked: () => asked };
}

const toText = (told: AnnouncementResult) =>
  typeof told === "string" ? told : JSON.parse(Buffer.from(told).toString());

t.test("all who see the same of an entry get the same bytes, made once", async (t) => {
  const { tell, asked } = open(null);
  const first = tell("ci");
  t.same(toText(first), { topic: entry.topic, seq: 7, kind: "change", data: entry.data });
  for (const hash of ["cd", "usr_1", "ci"]) t.equal(tell(hash), first);
  t.equal(asked(), 1);
});

t.test("each gets the first change that is for them, or nothing", async (t) => {
  const { tell } = open([
    { audience: "administrators", data: "who administers" },
    { audience: { outcomesOf: teamId }, data: "who reads its outcomes" },
    { audience: "people", data: "people" },
  ]);
  t.equal(toText(tell("usr_1")).data, "who reads its outcomes");
  t.equal(toText(tell("ci")).data, "who reads its outcomes");
  const { tell: tellPeople } = open([{ audience: "people", data: "people" }]);
  t.equal(toText(tellPeople("usr_1")).data, "people");
  t.equal(tellPeople("ci"), "nothing-for-them");
});

t.test("who may not see the topic is told so, and whose credential is over too", async (t) => {
  const { tell } = open(null);
  t.equal(tell("usr_3"), "may-not-see-topic");
  t.equal(tell("revoked"), "credential-over");
});

t.test("what was read for an entry is read again once its readers were told", async (t) => {
  const { tell, asked } = open(null);
  tell("ci");
  await Promise.resolve();
  tell("ci");
  t.equal(asked(), 2);
});
