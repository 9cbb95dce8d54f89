import t from "tap";
import { startChat } from "../../support/chat.js";
import { openShipped } from "../../support/shipped-scene.js";
import { until } from "../../support/until.js";

/** Tests the shipped chat integration with the whole service, from a mention to the answers in its thread. */

const CHANNEL = "C0123456789";

t.test(
  "a mention opens a task; its thread is told what the agent asks, and what is said in it is a note",
  async (t) => {
    const chat = await startChat(t);
    const scene = await openShipped(t, {
      file: "chat/integration.json",
      hosts: { "slack.com": chat.api.host, "files.slack.com": chat.api.host },
      secrets: { "chat-token": chat.token, "chat-signing": chat.secret },
      tools: ["chat.read_thread", "chat.post"],
    });
    const subscribed = await chat.subscribe(scene.deliveriesUrl);
    t.equal(subscribed.status, 200);
    t.same(JSON.parse(subscribed.text), { challenge: subscribed.challenge });
    const runner = await scene.runner();

    const file = { name: "log.txt", type: "text/plain", content: "Error: no" };
    const { ts, sent } = await chat.say(CHANNEL, { text: `${chat.mention} login fails`, files: [file] });
    t.match(sent, [{ status: 202 }, { status: 202 }]);
    t.equal((await chat.repeat()).status, 202, "sent again, it is the same");
    const task = await scene.opened(/login fails$/);
    t.match(task, { marks: { conversation: ts } });
    const inThread = () => chat.messages.filter(({ thread }) => thread === ts).map(({ text }) => text);
    await until("the thread to be told that work began", () => inThread().length === 1);

    const job = await runner.job();
    runner.start(job);
    const read = await scene.call(runner, job, "read_thread", { channel: CHANNEL });
    t.match(read, { outcome: "done", text: /login fails/ });
    await chat.say(CHANNEL, { text: "Since Monday.", thread: ts });
    await scene.when(`task/${task.id}`, async () =>
      JSON.stringify(await scene.task(task.id)).includes("Since Monday."),
    );
    await chat.say("C0000000000", { text: `${chat.mention} not here` });
    runner.end(job, { ending: { kind: "ask", question: "Which browser?" } });
    const asked = () => inThread().find((text) => text.startsWith("Which browser?"));
    await until("the thread to be asked", () => asked() !== undefined);
    t.match(asked(), new RegExp(`^Which browser\\?\n\nhttp://.*/api/tasks/${task.id}$`), "with where it is answered");
    t.match(await scene.tasks(), { length: 1 }, "neither the repeated mention nor one elsewhere opened another");
    t.equal(inThread().filter((text) => /has begun/.test(text)).length, 1);
  },
);
