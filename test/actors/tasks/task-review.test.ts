import t from "tap";
import { toTaskReview } from "../../../actors/tasks/task-review.js";

const repository = (name: string) => ({ name, setup: null, image: null });
const one = { repositories: [repository("acme/app")] };
const two = { repositories: [repository("acme/app"), repository("acme/docs")] };

t.test("a pull request is reviewed in its repository, which the line has", async (t) => {
  const url = "https://code.example/Acme/App/pull/7";
  t.same(toTaskReview(two, { pullRequest: url }), { repository: "acme/app", ref: "refs/pull/7/head", url });
  const odd = ["", "7", "https://code.example/acme/none/pull/7", `${url}/files`, "javascript:acme/app/pull/7"];
  const more = ["https://code.example/acme/app/pull/0", "https://code.example/acme/app/pull/7?x", `${url} `];
  for (const pullRequest of [...odd, ...more]) {
    t.match(toTaskReview(two, { pullRequest }), { refused: "invalid" }, pullRequest);
  }
});

t.test("a branch is reviewed in the line's repository, or with several in those that have it", async (t) => {
  t.same(toTaskReview(one, { branch: "fix/it" }), { repository: "acme/app", ref: "refs/heads/fix/it", url: null });
  t.same(toTaskReview(two, { branch: "fix/it" }), { repository: null, ref: "fix/it", url: null });
  const [longest, tooLong] = ["x".repeat(244), "x".repeat(245)];
  t.match(toTaskReview(one, { branch: longest }), { ref: `refs/heads/${longest}` }, "as long as a runner takes");
  for (const branch of ["", "--upload-pack=x", "a b", "a..b", tooLong]) {
    t.match(toTaskReview(one, { branch }), { refused: "invalid" }, branch);
  }
  t.match(toTaskReview({ repositories: [] }, { branch: "x" }), { refused: "invalid" });
  t.match(toTaskReview(one, { branch: "x", pullRequest: "y" }), { refused: "invalid" });
  t.equal(toTaskReview(one, {}), null);
});
