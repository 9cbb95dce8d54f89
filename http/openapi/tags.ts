import type { oas31 } from "zod-openapi";

/** Tags that serve one purpose of a reader, each with its description. */
export interface TagGroup {
  /** One word, for the navigation of the documentation page. */
  readonly name: string;
  readonly tags: Readonly<Record<string, string>>;
}

/** All tags of the API, in the order in which a new user needs them. */
export const tagGroups: readonly TagGroup[] = [
  {
    name: "Configure",
    tags: {
      workspace: "A workspace contains teams, secrets, tokens, trusts and runner pools. Its slug names it in paths.",
      team: "A team holds lines, skills, harness profiles, integrations, hooks and tasks. People and tokens read and change what their teams hold.",
      line: "A line is the sequence of stations that tasks move through, with its repositories.",
      skill: "A skill is a folder of files that teaches agents a task. Stations name their skills.",
      "harness-profile": "A harness profile sets the arguments, environment and secrets of a station's agent program.",
      hook: "A hook calls tools or sends requests when an event happens to a task. It can refuse some events.",
      secret: "A secret is a write-only value. Requests send it only to its hosts; harness profiles pass it to agents.",
      Expressions: "Check the expressions of integrations and hooks before you write them.",
      Export: "Export a workspace, or one resource, as HCL for infrastructure as code.",
      "Dry runs": "Find out whether the service would accept a set of changes, without making them.",
      "Configuration changes": "Read who changed which configuration, when, and with which client.",
    },
  },
  {
    name: "Work",
    tags: {
      "Tasks and runs": "Open tasks, follow the agent runs that work on them, answer, approve and stop.",
      Inbox: "Read the questions and approvals that wait for the signed-in person.",
      Decisions: "Read the decisions that agents made in the runs of tasks.",
      "Pull requests": "Follow the pull requests of tasks from draft to merge, and review other ones.",
      "Hook occurrences": "Read the firings of hooks, resend them, and receive callbacks from hook requests.",
      Navigation: "Search tasks and resources of a workspace by text, or find any object by its id.",
    },
  },
  {
    name: "Measure",
    tags: {
      Replays: "Repeat past runs with a proposed config, and compare success, cost and time with the live config.",
      "replay-candidate": "A replay candidate is a station config that is proposed for replays and never applied.",
      "Replay checks": "Check a planned change of a line, for example in CI, by replays of its guarding sets.",
      Searches: "Let an agent search for a better station config, and open a pull request with the result.",
    },
  },
  {
    name: "Connect",
    tags: {
      integration: "An integration defines webhooks, polls, actions and tools for a system outside the service.",
      Connections: "Connect a team or a person to the account that an integration uses.",
      Deliveries: "Receive webhook deliveries, list them, and process a delivery again.",
      Polls: "Read the latest polls of an integration, and start a poll now.",
      "Actions of integrations": "Read the requests that an integration's actions sent, and send one again.",
      "Code host": "Connect installations of the code host, whose repositories lines check out.",
    },
  },
  {
    name: "Operate",
    tags: {
      "runner-pool": "A runner pool is a group of runners with one token, labels and a limit of concurrent runs.",
      "runner-trust": "A runner trust lets hosts join pools with the OIDC token of their platform.",
      "workspace-runners": "The runner settings of a workspace: default pool, run limit and share for replays.",
      Runners: "List the runners of a workspace, and serve the files that the runner program needs.",
      Operation: "Check the health of the service, read its metrics, and retry messages that failed.",
      Documents: "This documentation page and the OpenAPI document that it shows.",
      Sockets: "WebSockets and server-sent events that stream changes to clients, and the WebSocket of runners.",
    },
  },
  {
    name: "Access",
    tags: {
      Sessions: "Sign in with a link by email, and read or end the session.",
      Members: "List the people of a workspace, and change their roles and teams.",
      Invites: "Invite people to a workspace by email, and accept an invite.",
      "workspace-token": "A workspace token is a bearer credential that acts in one workspace within its scopes.",
      "workspace-token-trust": "A token trust lets CI jobs exchange their platform's OIDC token for a workspace token.",
      Trusts: "Exchange OIDC tokens through a trust, and read why a trust refused an exchange.",
    },
  },
];

/** Returns a tag with its description. */
export function toTag(name: string): oas31.TagObject {
  const description = tagGroups.map(({ tags }) => tags[name]).find((found) => found !== undefined);
  return description === undefined ? { name } : { name, description };
}
