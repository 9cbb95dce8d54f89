import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { faultOfPack } from "../../../../actors/archives/classify-archive.js";
import { ArchiveRefused } from "../../../../http/runner/archives/archive-client.js";
import { describePack } from "../../../../http/runner/archives/make-pack.js";
import { WantedCommits } from "../../../../http/runner/archives/wanted-commits.js";
import { Mirrors } from "../../../../http/runner/checkout/mirrors.js";
import { toPack } from "../../../actors/archives/archive-scene.js";
import { inRepository } from "../../../support/repository.js";
import { until } from "../../../support/until.js";

const repository = "acme/app";
const { signal } = new AbortController();

/** Returns a runner's search for commits over a real repository with two commits. The test acts as the service. */
function scene(t: Test, { maxBytes = 10_000_000, refuses = false, received = 0 } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-wanted-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const remote = join(folder, "repositories/acme/app");
  mkdirSync(remote, { recursive: true });
  const git = (...args: string[]) => inRepository(remote, ...args).trim();
  git("init", "--quiet", "--initial-branch", "main");
  for (const text of ["one\n", "two\n"]) {
    writeFileSync(join(remote, "a.txt"), text);
    writeFileSync(join(remote, "b.bin"), randomBytes(600_000));
    git("add", ".");
    git("commit", "--quiet", "-m", text.trim());
  }
  const said: string[] = [];
  const sent: Buffer[] = [];
  const logged: string[] = [];
  const mirrors = new Mirrors({ workFolder: join(folder, "work"), gitUrl: join(folder, "repositories/{name}") });
  const client = {
    take: async (id: string) => {
      said.push(`take ${id}`);
      if (refuses) throw new ArchiveRefused("another has it");
    },
    report: async (_id: string, found: string) => void said.push(found),
    offer: async (_id: string, pack: { bytes: number; digest: string }) => {
      said.push(`offer ${pack.digest}`);
      return received;
    },
    put: async (_id: string, n: number, chunk: Buffer) => {
      said.push(`chunk ${n}`);
      sent.push(Buffer.from(chunk));
      return n + 1;
    },
  };
  const log = (line: string) => void logged.push(line);
  const wanted = new WantedCommits({ workFolder: join(folder, "work"), mirrors, client, maxBytes, log });
  const base = git("rev-parse", "HEAD");
  /** Makes the mirror keep the commit, as a run does that starts from this commit. */
  const keep = () => mirrors.from({ repository, base, signal }, async () => undefined);
  const look = async (mayFetch = false, commit = base) => {
    wanted.add([{ archiveId: "arc_1", repository, commit, mayFetch }]);
    await wanted.idle();
  };
  return { folder, remote, git, said, sent, logged, base, keep, look, wanted };
}

function forget({ git }: Pick<ReturnType<typeof scene>, "git">): void {
  git("checkout", "--quiet", "--orphan", "next");
  git("commit", "--quiet", "-m", "Anew");
  git("branch", "--quiet", "-D", "main");
}

t.test("a commit on a branch is said to be there; one that its branch has left is sent whole", async (t) => {
  const made = scene(t);
  const { base, keep, look, said, sent, folder } = made;
  await keep();
  await look();
  t.same(said.splice(0), ["take arc_1", "on-branch"]);
  forget(made);
  await look();
  const bytes = Buffer.concat(sent);
  t.same(said, ["take arc_1", `offer ${toPack(bytes).digest}`, "chunk 0", "chunk 1"]);
  t.equal(faultOfPack(bytes, base), null);
  const objects = bytes.readUInt32BE(8);
  t.equal(objects, 4, "the commit, its tree and two files; nothing of the commit before");
  t.same(readdirSync(join(folder, "work/archives")), [], "no file is left");
});

t.test("the same commit makes the same pack again, so that sending goes on where it was", async (t) => {
  const made = scene(t, { received: 1 });
  await made.keep();
  forget(made);
  await made.look();
  await made.look();
  const offers = made.said.filter((line) => line.startsWith("offer"));
  t.equal(new Set(offers).size, 1);
  t.same(
    made.said.filter((line) => line.startsWith("chunk")),
    ["chunk 1", "chunk 1"],
  );
});

t.test("a runner that has not got it does nothing unless it is named; then it gets it if it can", async (t) => {
  const { look, said, git, base } = scene(t);
  await look();
  t.same(said, []);
  await look(true);
  t.same(said.splice(0), ["take arc_1", "on-branch"]);
  await look(true, "1".repeat(40));
  t.same(said.splice(0), ["take arc_1", "missing"]);
  git("checkout", "--quiet", "--detach");
  git("commit", "--quiet", "--allow-empty", "-m", "Apart");
  await look(true, git("rev-parse", "HEAD"));
  t.match(said, ["take arc_1", /^offer/], "on no branch, but the repository has it");
  t.not(base, git("rev-parse", "HEAD"));
});

t.test("a repository that is gone does not keep a runner from sending what it has", async (t) => {
  const { keep, look, said, remote } = scene(t);
  await keep();
  rmSync(remote, { recursive: true });
  await look();
  t.match(said, ["take arc_1", /^offer/, "chunk 0", "chunk 1"]);
});

t.test("what is too large is said to be, and one that another runner has is left to it", async (t) => {
  const large = scene(t, { maxBytes: 100_000 });
  await large.keep();
  forget(large);
  await large.look();
  t.same(large.said, ["take arc_1", "too-large"]);
  t.same(readdirSync(join(large.folder, "work/archives")), []);
  const taken = scene(t, { refuses: true });
  await taken.keep();
  await taken.look();
  t.same(taken.said, ["take arc_1"]);
  t.same(taken.logged, []);
});

t.test("what waits is looked for once, and the end of the runner ends the search", async (t) => {
  const { keep, said, wanted, base } = scene(t);
  await keep();
  const commit = { archiveId: "arc_1", repository, commit: base, mayFetch: false };
  wanted.add([commit, commit, { ...commit, archiveId: "arc_2" }]);
  wanted.add([{ ...commit, archiveId: "arc_2" }]);
  await until("both are looked for", () => said.length === 4);
  t.same(said, ["take arc_1", "on-branch", "take arc_2", "on-branch"]);
  wanted.add([commit]);
  await wanted.close();
});

t.test("a pack in a file is described as its chunks are", async (t) => {
  const { folder } = scene(t);
  const bytes = randomBytes(1_200_000);
  writeFileSync(join(folder, "pack"), bytes);
  t.same(await describePack(join(folder, "pack")), toPack(bytes));
});
