import type { Job, JobSearch } from "../../../actors/runners/job.js";

/** What the agent of a search is told: a prompt for each kind of run, and the skill that comes with both. */

const SKILL = `# Searching for a better config

A work station hands tasks to a coding agent. Its config is a *station block*: prompt, model, effort, harness, skills,
tools. A search looks for a block under which past tasks succeed more often, or cost less. You propose blocks
(*candidates*); the service replays past runs under each and scores them with the station's own check and judge. You see
how that went and propose better ones. Other tasks, which you never see, decide in the end whether a candidate is better:
what fits only the tasks that you see is worth nothing.

## What you find

All of it lies under \`$SIGNALBOX_SEARCH\`. Nothing else matters; your working folder is empty.

    brief.json                  read it first
    candidates/<name>.json      each candidate so far, and \`seed\`, the live config: block, hypothesis, changes, scores
    runs/<task>/task.json       a task, and each candidate's results on it
    runs/<task>/<candidate>/<place>-<copy>/result.json    one replay of it: result, check, judge, last steps
    runs/<task>/<candidate>/<place>-<copy>/change.diff    what the agent changed there
    left-out.json               how many more files there are that there was no room for
    propose                     a program: gives what you say to the service, prints its answer
    proposals/  answers/        the same by hand

\`brief.json\` says: \`kind\` (\`propose\` or \`reflect\`), \`iteration\`; \`left\` (candidates of this run, iterations, money),
\`objective\` (\`success\`: succeed more often; \`cost\`: as often, for less), \`minGain\` (smaller gains count as none),
\`live\` (the live station block), \`candidates\` (their scores), \`frontier\` (those that nothing beats in both success and
cost), \`parents\` (those to begin from, each with the tasks at which it is the best), \`detailed\` (those whose copies are
here one by one), \`causes\` (what a reflection found), \`standing\` and \`tasks\` (in a reflection: which candidate failed
what), and \`cut\`: texts that are not whole, which must not be copied.

## To propose

Write a JSON object to a file and run \`"$SIGNALBOX_SEARCH/propose" FILE\`:

    { "type": "candidates", "candidates": [
      { "name": "reads-first", "hypothesis": "It edited before it had read the tests.", "station": { … } } ] }

- \`station\` is a whole block: copy \`live\`, or a candidate's, and change what you mean to. What you leave out is not taken
  from the live config.
- \`key\`, \`check\`, \`judge\`, \`runners\` and \`diffs\` must stay as they are: they say how work is scored.
- \`profile\` is the one of \`live\`, or null: no candidate gets other secrets.
- How runs go must differ from the live config and from every other candidate.
- \`name\` is a slug (\`lowercase-words\`), used once in the search, never \`seed\`.
- Either all of them are admitted (\`"status":201\`, and \`left\` says how many more) or none (422, with each fault at its
  path, such as \`[0].station.harness\`): mend it and propose again. When nothing is left, you are done.
- Prefer few changes with a reason over many without. Learn from failures: what would have helped this agent, and others
  like it on other tasks? Never write what solves one of these tasks into a prompt.

## To reflect

For each task of \`tasks\` find out why the standing config failed it, and record one cause:

    { "type": "cause", "taskId": "task_…", "cause": "config", "evidence": "…", "suggestion": "…" }

\`cause\`: \`config\` (another prompt, model, skill or tool could have helped: say which as \`suggestion\`), \`task\` (it asks for
what cannot be done, or does not say what it asks), \`judge\` (the judge is wrong), \`check\` (the check is wrong), \`infra\` (a
runner, network or timeout). \`evidence\` (at most 4,000 characters) quotes steps, output or reasons; \`suggestion\` (at most
4,000) may be left out. A second cause for a task replaces the first. Be honest: a search goes on only for a \`config\`
cause with a suggestion, and going on costs money.

## Other ways to speak

A program of the \`command\` harness may print the same objects, each on one line, and reads each answer as a line on its
standard input: \`{ "type": "candidates.answered", "status": 201, "body": { … } }\`, or \`cause.answered\`. Any program may
put them as files into \`proposals/\` (write under a hidden name, then rename to \`<name>.json\`); the answer comes as
\`answers/<name>.json\`: \`{ "status": …, "body": … }\`. Nobody answers questions, and no leave is given.
`;

/** The skill of every run of a search. */
export const SEARCH_SKILL: Job["skills"][number] = {
  key: "search",
  name: "Searching for a better config",
  description: "How to read what a search shows you, propose station configs, and record why tasks failed.",
  files: [{ path: "SKILL.md", content: SKILL }],
};

const PROMPTS: Readonly<Record<JobSearch["kind"], string>> = {
  propose: `Propose better configs for a work station.

Read the skill \`$SIGNALBOX_SKILLS/search/SKILL.md\`, then \`$SIGNALBOX_SEARCH/brief.json\`, then the runs that failed. Propose
as many candidates as are left, each with a hypothesis of its own, with \`"$SIGNALBOX_SEARCH/propose" FILE\`. Mend what is
refused. Then end.
`,
  reflect: `Find out why past tasks failed under the config of a work station.

Read the skill \`$SIGNALBOX_SKILLS/search/SKILL.md\`, then \`$SIGNALBOX_SEARCH/brief.json\`, whose \`tasks\` say what to look into.
Record one cause for each of them with \`"$SIGNALBOX_SEARCH/propose" FILE\`, with evidence, and with a suggestion where
another config could have helped. Then end.
`,
};

/** What the agent of such a run is told to do. */
export function promptOf(kind: JobSearch["kind"]): string {
  return PROMPTS[kind];
}
