import t from "tap";
import { admits, job, workflowFile, workflowText } from "./workflow-file.js";

/** The worked workflow is what its page says of it. */

const pullRequestOf = (repository: string) => ({
  github: { repository: "acme/app", event: { pull_request: { number: 7, head: { repo: { full_name: repository } } } } },
});

t.test("the workflow stores no secret and may do no more than read the code and ask for its own token", async (t) => {
  t.same(workflowFile.permissions, {});
  t.same(job.permissions, { contents: "read", "id-token": "write" });
  t.notMatch(workflowText, /secrets\./);
  const [checkout] = job.steps;
  t.match(checkout, { uses: /^actions\/checkout@/, with: { "persist-credentials": false } });
});

t.test("it runs for pull requests of the repository itself, and for no fork's", async (t) => {
  t.same(Object.keys(workflowFile.on), ["pull_request"], "never with the rights of the base, as pull_request_target");
  t.equal(admits(pullRequestOf("acme/app")), true);
  t.equal(admits(pullRequestOf("mallory/app")), false);
  t.equal(admits({ github: { repository: "acme/app", event: { pull_request: { head: { repo: null } } } } }), false);
});

t.test("its actions are GitHub's own, each of a major version, and no expression stands in a shell", async (t) => {
  for (const { uses, run } of job.steps) {
    if (uses !== undefined) t.match(uses, /^actions\/[a-z-]+@v\d+$/);
    t.notMatch(run ?? "", /\$\{\{/);
  }
  t.ok(job["timeout-minutes"] > 300, "the command's own time limit comes first");
});
