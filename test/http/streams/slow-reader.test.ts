import t from "tap";
import { ManualClock } from "../../support/manual-clock.js";
import { StreamReader } from "../../support/stream-reader.js";
import { until } from "../../support/until.js";
import { openWorkplace } from "../../support/workplace.js";

const WISHES = 200;

for (const TRANSPORT of ["uws", "node"]) {
  t.test(`over ${TRANSPORT}, pictures asked for again and again are not kept for who reads none`, async (t) => {
    const { ada, open } = await openWorkplace(t, { settings: { TRANSPORT } });
    const task = await open();
    const note = (text: string) => ada.request("POST", `/api/tasks/${task}/notes`, { text });
    for (let n = 0; n < 50; n++) await note("x".repeat(20_000));
    const reader = await StreamReader.open(ada);
    t.teardown(async () => reader.end());
    reader.socket.pause();
    for (let wish = 0; wish < WISHES; wish++) reader.subscribe(`task/${task}`);
    await until("all wishes to be sent", () => reader.socket.bufferedAmount === 0);
    // Wait for the answer to a later request on another socket. When this answer arrives, the service has answered all
    // earlier requests.
    const other = await StreamReader.open(ada);
    other.subscribe(`task/${task}`);
    await other.until(({ kind }) => kind === "snapshot");
    other.end();
    reader.socket.resume();
    await reader.until(({ kind }) => kind === "snapshot");
    await note("the last");
    await reader.until(({ data }) => JSON.stringify(data).includes("the last"));
    t.ok(reader.messages.length < WISHES / 4, `${reader.messages.length} messages were kept`);
  });
}

t.test("a client over its rate is told to wait, over all its sockets", async (t) => {
  const clock = new ManualClock();
  const { ada, teamId } = await openWorkplace(t, { clock });
  const [first, second] = await Promise.all([StreamReader.open(ada), StreamReader.open(ada)]);
  t.teardown(() => [first, second].map((reader) => reader.end()));
  for (let wish = 0; wish < 6_000; wish++) first.subscribe("team/none");
  await first.until(({ data }) => /^Too many requests on this socket/.test(String(data.message)));
  second.subscribe(`team/${teamId}`);
  t.match(await second.until(() => true), {
    kind: "error",
    data: { message: "Too many requests on this socket: try again in 1 s." },
  });
});
