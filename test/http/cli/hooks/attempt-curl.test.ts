import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import t from "tap";
import { toCurl } from "../../../../http/cli/hooks/attempt-curl.js";

const attempt = {
  n: 1,
  step: "tell",
  at: "2026-11-29T12:00:00.000Z",
  tookMs: 5,
  url: "http://127.0.0.1:9000/in?key=***&x=1",
  requestHeaders: {
    "content-type": "application/json",
    "webhook-id": "occ_1.0",
    "webhook-signature": "(left out)",
    "x-note": "it's $HOME `id`",
  },
  requestBody: '{"title":"it\'s \\"done\\" $HOME"}',
  status: 400,
  code: "rejected",
  reason: null,
  body: "no",
} as const;

t.test("an attempt is a curl command that a shell runs with exactly its address, headers and body", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-curl-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "curl"), '#!/bin/sh\nprintf "%s\\0" "$@"\n', { mode: 0o755 });
  const command = toCurl(attempt)?.join("\n") ?? "";
  const env = { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH}` };
  const { stdout } = await promisify(execFile)("sh", ["-c", command], { env });
  const headers = Object.entries(attempt.requestHeaders).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
  t.same(stdout.split("\0"), [attempt.url, ...headers, "--data-raw", attempt.requestBody, ""]);
});

t.test("secrets stay masked, and control characters do not reach the terminal", (t) => {
  const shown = toCurl({ ...attempt, requestBody: "a\u001b[31mb" })?.join("\n") ?? "";
  t.match(shown, "webhook-signature: (left out)");
  t.match(shown, "key=***");
  t.notMatch(shown, "\u001b");
  t.end();
});

t.test("a tool call and an attempt that sent nothing are no curl commands", (t) => {
  t.equal(toCurl({ ...attempt, requestHeaders: { "service-message-id": "m" } }), null);
  t.equal(toCurl({ ...attempt, url: null, requestBody: null }), null);
  t.end();
});
