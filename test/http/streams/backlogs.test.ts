import t, { type Test } from "tap";
import { createKinds, createTopics } from "../../../actors/catalogue.js";
import { notJudging } from "../../../actors/judging/judging-setup.js";
import { parseAllowList } from "../../../actors/outbound/http/allow-list.js";
import { isRefusal } from "../../../actors/refusal.js";
import { authenticate } from "../../../http/access/authenticate.js";
import { ExpiredCredentials } from "../../../http/access/expired-credentials.js";
import { Backlogs, MAX_HOLDER_BYTES } from "../../../http/streams/backlogs.js";
import { StreamReaders } from "../../../http/streams/stream-readers.js";
import { type ReaderOptions, TopicStream } from "../../../http/streams/topic-stream.js";
import { openWorkplace } from "../../support/workplace.js";

/** Opens a stream of the topic over a connection that sends nothing. Records what the stream does. */
function openStream(t: Test, options: ReaderOptions, topic: string) {
  const seen: string[] = [];
  const connection = {
    bufferedBytes: 0,
    send: (kind: string) => void seen.push(kind),
    close: ({ code }: { readonly code: number }) => void seen.push(`closed ${code}`),
  };
  const stream = new TopicStream(options, connection);
  t.teardown(() => stream.closed());
  const caller = stream.caller();
  if (caller !== null) stream.subscribe(topic, undefined, caller);
  return { seen, connection, stream };
}

t.test("streams of one holder together buffer a limited number of bytes; other holders are served", async (t) => {
  const place = await openWorkplace(t);
  const { runtime, baseUrl } = place.service;
  const expired = new ExpiredCredentials(runtime);
  const callerOf: ConstructorParameters<typeof StreamReaders>[0]["callerOf"] = (credentials) =>
    authenticate(credentials, runtime, expired, new URL(baseUrl).origin);
  const kinds = createKinds({ allowList: parseAllowList(""), signsTokens: false });
  const topics = createTopics({ kinds, judging: notJudging });
  const readers = new StreamReaders({ runtime, topics, callerOf, expired });
  const optionsOf = (cookie = "") => {
    const admitted = readers.admit({ header: (name) => (name === "cookie" ? cookie : undefined) });
    if (isRefusal(admitted)) throw new Error(admitted.refused);
    return admitted.options;
  };
  const ada = optionsOf(place.ada.credentials.cookie);
  const team = `team/${place.teamId}`;
  const stalled = [openStream(t, ada, team), openStream(t, ada, team)];
  for (const { connection } of stalled) connection.bufferedBytes = MAX_HOLDER_BYTES / 2;
  t.same(openStream(t, ada, team).seen, ["snapshot"], "the limit itself is allowed");
  stalled.push(openStream(t, ada, team));
  for (const { connection } of stalled) connection.bufferedBytes = MAX_HOLDER_BYTES / 2;
  t.same(openStream(t, ada, team).seen, ["closed 1013"], "a state beyond the limit");
  const bob = await place.service.signIn("bob@example.com");
  t.same(openStream(t, optionsOf(bob.credentials.cookie), team).seen, ["error"], "another holder gets an answer");
  for (const { stream } of stalled) stream.closed();
  t.same(openStream(t, ada, team).seen, ["snapshot"], "closed streams no longer count");
});

t.test("a holder without streams has no backlog", async (t) => {
  const backlogs = new Backlogs();
  const end = backlogs.add("usr_1", { bufferedBytes: MAX_HOLDER_BYTES + 1 });
  t.same([backlogs.isExceeded("usr_1"), backlogs.isExceeded("usr_2")], [true, false]);
  end();
  t.notOk(backlogs.isExceeded("usr_1"));
});
