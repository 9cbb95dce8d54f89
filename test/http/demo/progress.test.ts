import t from "tap";
import { Progress } from "../../../http/demo/progress.js";

t.test(
  "a quiet second gets a line with the state and the seconds of the wait; a printed line puts it off",
  async (t) => {
    let nowMs = 0;
    const progress = new Progress(() => nowMs);
    t.equal(progress.due(), null, "nothing is waited for");
    progress.set("the replays", "replays: 1 of 3 runs ended");
    nowMs = 899;
    t.equal(progress.due(), null);
    nowMs = 900;
    t.equal(progress.due(), "replays: 1 of 3 runs ended (1 s)");
    progress.printed();
    t.equal(progress.due(), null);
    nowMs = 3_000;
    progress.set("the replays", "replays: 2 of 3 runs ended");
    t.equal(progress.due(), "replays: 2 of 3 runs ended (3 s)");
    progress.set("the check", "check: 0 of 1 tasks compared");
    t.equal(progress.due(), "check: 0 of 1 tasks compared (0 s)", "a new wait starts at zero");
  },
);
