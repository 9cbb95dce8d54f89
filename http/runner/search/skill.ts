import type { Job, JobSearch } from "../../../actors/runners/job.js";

/** The instructions for a search's agent: a prompt for each kind of run, and one skill for both. */

const SKILL = `# Search for a better config

A work station gives tasks to a coding agent. Its config is a *station block*: prompt, model, effort, harness, skills and
tools. A search looks for a block under which past tasks succeed more often, or cost less. You propose blocks
(*candidates*). The service replays past runs under each of them and scores them with the station's own check and judge.
You see the results and propose better candidates. Other tasks, which you never see, decide in the end whether a candidate
is better. A candidate that only fits the tasks that you see is worth nothing.

## What you find

Everything is under \`$SIGNALBOX_SEARCH\`. Your working folder is empty.

    brief.json                  read it first
    candidates/<name>.json      each candidate so far, and \`seed\`, the live config: block, hypothesis, changes, scores
    runs/<task>/task.json       a task, and the results of each candidate on it
    runs/<task>/<candidate>/<place>-<copy>/result.json    one replay of it: result, check, judge, last steps
    runs/<task>/<candidate>/<place>-<copy>/change.diff    what the agent changed there
    left-out.json               how many more files exist for which there was no room
    propose                     a program that sends your file to the service and prints the answer
    proposals/  answers/        the same, by hand

\`brief.json\` has these members:

- \`kind\`: \`propose\` or \`reflect\`. \`iteration\`: its number.
- \`left\`: how many candidates this run may still propose, and the iterations and the money that remain.
- \`objective\`: \`success\` (succeed more often) or \`cost\` (succeed as often, for less). \`minGain\`: smaller gains count as
  none.
- \`live\`: the live station block. \`candidates\`: their scores.
- \`frontier\`: the candidates that no other beats in both success and cost.
- \`parents\`: the candidates to start from, each with the tasks at which it is the best.
- \`detailed\`: the candidates whose copies are here one by one.
- \`causes\`: what a reflection found.
- \`standing\` and \`tasks\`, in a reflection: which candidate failed, and at which tasks.
- \`cut\`: texts that are not complete. Do not copy them.

## Propose candidates

Write a JSON object to a file and run \`"$SIGNALBOX_SEARCH/propose" FILE\`:

    { "type": "candidates", "candidates": [
      { "name": "reads-first", "hypothesis": "It edited before it had read the tests.",
        "station": { "from": "live", "prompt": "…" } } ] }

- \`station\` is \`{ "from": "live" }\` with the fields that you change: each replaces the field of the live block as a whole.
  To build on another candidate, include the fields that it changed. A block without \`from\` must be complete.
- Do not change \`key\`, \`check\`, \`judge\`, \`runners\` or \`diffs\`: they decide how work is scored.
- \`profile\` is the one of \`live\`, or null. No candidate gets other secrets.
- A candidate must differ from the live config and from every other candidate in how its runs go.
- \`name\` is a slug (\`lowercase-words\`), used once in the search, and never \`seed\`.
- The service admits all candidates of a file (\`"status":201\`, and \`left\` says how many more you may propose) or none
  (422, with each fault at its path, such as \`[0].station.harness\`). Correct the faults and propose again. You are done
  when nothing is left.
- Prefer few changes with a reason to many without. Learn from failures: what would have helped this agent, and other
  agents on other tasks? Never write the solution of one of these tasks into a prompt.

## Reflect on failures

For each task in \`tasks\`, find out why the standing config failed it, and record one cause:

    { "type": "cause", "taskId": "task_…", "cause": "config", "evidence": "…", "suggestion": "…" }

\`cause\` is one of:

- \`config\`: another prompt, model, skill or tool could have helped. Say which one in \`suggestion\`.
- \`task\`: the task asks for something impossible, or does not say what it asks for.
- \`judge\`: the judge is wrong. \`check\`: the check is wrong.
- \`infra\`: a runner, the network or a timeout.

\`evidence\` (at most 4,000 characters) quotes steps, output or reasons. \`suggestion\` (at most 4,000) is optional. A second
cause for a task replaces the first. Be honest: the search continues only for a \`config\` cause with a suggestion, and
continuing costs money.

## Other ways to send this

A program of the \`command\` harness may print the same objects, each on one line. It reads each answer as a line on its
standard input: \`{ "type": "candidates.answered", "status": 201, "body": { … } }\`, or \`cause.answered\`. Any program may
write the objects as files into \`proposals/\`: write under a hidden name, then rename to \`<name>.json\`. The answer is
\`answers/<name>.json\`: \`{ "status": …, "body": … }\`. Nobody answers questions or grants permissions.
`;

/** The skill of every search run. */
export const SEARCH_SKILL: Job["skills"][number] = {
  key: "search",
  name: "Search for a better config",
  description: "Read the results of a search, propose station configs, and record why tasks failed.",
  files: [{ path: "SKILL.md", content: SKILL }],
};

const PROMPTS: Readonly<Record<JobSearch["kind"], string>> = {
  propose: `Propose better configs for a work station.

Read the skill \`$SIGNALBOX_SKILLS/search/SKILL.md\`, then \`$SIGNALBOX_SEARCH/brief.json\`, then the runs that failed. Propose
as many candidates as are left, each with its own hypothesis, with \`"$SIGNALBOX_SEARCH/propose" FILE\`. Correct what is
refused and propose it again. Then exit.
`,
  reflect: `Find out why past tasks failed under the config of a work station.

Read the skill \`$SIGNALBOX_SKILLS/search/SKILL.md\`, then \`$SIGNALBOX_SEARCH/brief.json\`. Its \`tasks\` are the failures to look
into. Record one cause for each of them with \`"$SIGNALBOX_SEARCH/propose" FILE\`. Give evidence, and a suggestion where
another config could have helped. Then exit.
`,
};

/** Returns the instructions for the agent of a search run of this kind. */
export function toPrompt(kind: JobSearch["kind"]): string {
  return PROMPTS[kind];
}
