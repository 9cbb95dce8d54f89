import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { Agent, EventSource } from "undici";
import { createKinds, createTopics } from "../../actors/catalogue.js";
import { notJudging } from "../../actors/judging/judging-setup.js";
import { parseAllowList } from "../../actors/outbound/http/allow-list.js";
import { openDocsScene } from "../support/docs-scene.js";
import { readBlocks } from "../support/page-blocks.js";
import type { StreamMessage } from "../support/stream-reader.js";
import { until } from "../support/until.js";

const PAGE = "docs/streams.md";

t.test("every command of the page works", async (t) => {
  const { reader, values, service, ada, runs } = await openDocsScene(t);
  const written = (name: string) => {
    const path = join(reader.repository, name);
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  };
  await reader.follow(PAGE, {
    values,
    after: async ({ code }) => {
      if (!code.includes("task note")) return;
      await until("the note", () => written("events.txt").includes("Only on Windows"));
      const events = written("events.txt").trimEnd().split("\n\n");
      t.equal(events[0], "retry: 1000");
      t.match(
        events[1],
        /^event: snapshot\nid: \d+~[0-9a-f]{8}\ndata: \{"topic":"task\/task_.*"seq":\d+,"kind":"snapshot"/,
      );
      t.match(events[2], /^event: change\nid: \d+~[0-9a-f]{8}\ndata: .*"type":"note","note":\{.*"Only on Windows"/);
      t.equal(events.length, 3);
    },
  });
  await until("the snapshot", () => written("messages.txt").includes("\n"));
  const message: StreamMessage = JSON.parse(written("messages.txt").split("\n")[0] ?? "");
  t.match(message, { kind: "snapshot", data: { title: "The tests fail", notes: [{ text: "Only on Windows" }] } });

  const taskId = message.topic.replace("task/", "");
  const runId = String((await runs(taskId))[0]?.id);
  const applied: StreamMessage[] = [];
  const snippet = readBlocks(readFileSync(PAGE, "utf8"), PAGE).find(({ code }) => code.includes("new EventSource"));
  const { cookie = "" } = ada.credentials;
  const dispatcher = new Agent().compose((dispatch) => (options, handler) => {
    return dispatch({ ...options, headers: { ...options.headers, cookie } as Record<string, string> }, handler);
  });
  class PageEventSource extends EventSource {
    constructor(path: string) {
      super(`${service.baseUrl}${path}`, { node: { dispatcher } });
      t.teardown(async () => this.close());
    }
  }
  const run = new Function("EventSource", "taskId", "runId", "apply", snippet?.code ?? "");
  run(PageEventSource, taskId, runId, (each: StreamMessage) => applied.push(each));
  await until("both snapshots", () => applied.length === 2);
  t.same(
    applied.map(({ topic, kind }) => [topic, kind]),
    [
      [`task/${taskId}`, "snapshot"],
      [`run/${runId}`, "snapshot"],
    ],
  );
});

t.test("the page names every kind of topic", async (t) => {
  const page = readFileSync(PAGE, "utf8");
  const kinds = createKinds({ allowList: parseAllowList(""), signsTokens: false });
  const list = page.slice(page.indexOf("A topic is"), page.indexOf("One connection"));
  const named = [...list.matchAll(/`([a-z-]+)\/<id>`/g)].map(([, kind]) => kind);
  t.same(named.sort(), [...createTopics({ kinds, judging: notJudging }).keys()].sort());
});
