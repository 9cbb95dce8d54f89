import t from "tap";
import { request } from "undici";
import { liveBytes } from "../../support/live-heap.js";
import { startTestService } from "../../support/service.js";

const MB = 1024 * 1024;
const SKILLS = 40;
const content = `${"A skill says how something is done. ".repeat(14 * 1024)}\n"quoted"`;

t.test("what an export takes of memory is a small part of what it writes", async (t) => {
  const service = await startTestService(t);
  const owner = await service.signIn("owner@example.com");
  const { id } = await owner.create("/api/resources/workspaces", { slug: "acme", name: "Acme" });
  const { id: teamId } = await owner.create(`/api/resources/workspaces/${id}/teams`, { key: "core", name: "Core" });
  for (let n = 0; n < SKILLS; n++) {
    const files = [{ path: "SKILL.md", content }];
    await owner.create(`/api/resources/teams/${teamId}/skills`, { key: `skill-${n}`, name: "A skill", files });
  }
  const path = `${service.baseUrl}/api/resources/workspaces/${id}/export`;
  const before = liveBytes();
  const most = { live: 0, bytes: 0, looked: 0 };
  const answer = await request(path, { headers: owner.credentials });
  for await (const chunk of answer.body) {
    most.bytes += Buffer.byteLength(chunk);
    if (most.bytes < most.looked + 2 * MB) continue;
    most.looked = most.bytes;
    most.live = Math.max(most.live, liveBytes() - before);
  }
  t.equal(answer.statusCode, 200);
  t.equal(most.bytes, Number(answer.headers["content-length"]));
  t.ok(most.bytes > 19 * MB, `${most.bytes} bytes`);
  t.ok(most.live < most.bytes / 2, `${(most.live / MB).toFixed(1)} MB more were held`);
});
