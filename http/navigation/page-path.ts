import type { Page } from "../../actors/navigation/place.js";

/** Page addresses by the kind of the page's object. `place` is `/w/{slug}`, the start of the workspace's own pages. */
const paths: Readonly<Record<string, (page: Page, place: string) => string>> = {
  workspace: (_page, place) => `${place}/inbox`,
  team: ({ under }, place) => `${place}/t/${under}`,
  line: toLinePath,
  station: toLinePath,
  integration: ({ id }) => `/integrations/${id}`,
  task: ({ id }) => `/tasks/${id}`,
  run: ({ id, under }) => (under === "" ? `/runs/${id}` : `/teams/${under}/replay-runs/${id}`),
  approval: ({ id }, place) => `${place}/inbox?item=${id}`,
  "pull-request": ({ id }) => `/pull-requests/${id}`,
  event: ofTeam("events"),
  "hook-occurrence": ofTeam("hook-occurrences"),
  "replay-set": ofTeam("replay-sets"),
  replay: ofTeam("replays"),
  "replay-check": ofTeam("replay-checks"),
  search: ofTeam("searches"),
  "config-pull-request": ofTeam("config-pull-requests"),
  delivery: ({ id, under }) => `/integrations/${under}/deliveries/${id}`,
  "action-run": ({ under }) => `/integrations/${under}`,
  runner: (_page, place) => `${place}/runners`,
  person: (_page, place) => `${place}/people`,
  invite: (_page, place) => `${place}/people`,
};

function ofTeam(collection: string): (page: Page) => string {
  return ({ id, under }) => `/teams/${under}/${collection}/${id}`;
}

function toLinePath({ under }: Page, place: string): string {
  return `${place}/t/${under.replace("/", "/lines/")}`;
}

/** Returns the address of a page in the console. Resources without a page of their own are shown as configuration. */
export function toPagePath(page: Page, slug: string): string {
  const place = `/w/${slug}`;
  return paths[page.kind]?.(page, place) ?? `${place}/configuration/${page.under}/${page.id}`;
}
