import { accessArea } from "./access/access.area.js";
import { archivesArea } from "./archives/archives.area.js";
import { type Area, defineArea } from "./area.js";
import { checksArea } from "./checks/checks.area.js";
import { codeHostArea } from "./code-host/code-host.area.js";
import { configPullRequestsArea } from "./config-pull-requests/config-pull-requests.area.js";
import { decisionsArea } from "./decisions/decisions.area.js";
import { eventsArea } from "./events/events.area.js";
import { hooksArea } from "./hooks/hooks.area.js";
import { integrationWorkArea } from "./integration-work/integration-work.area.js";
import { integrationsArea } from "./integrations/integrations.area.js";
import { linesArea } from "./lines/lines.area.js";
import { navigationArea } from "./navigation/navigation.area.js";
import { outboundArea } from "./outbound/outbound.area.js";
import { pullRequestsArea } from "./pull-requests/pull-requests.area.js";
import { replaysArea } from "./replays/replays.area.js";
import { resourcesArea } from "./resources/resources.area.js";
import { runFactsArea } from "./run-facts/run-facts.area.js";
import { runnersArea } from "./runners/runners.area.js";
import { runsArea } from "./runs/runs.area.js";
import { searchesArea } from "./searches/searches.area.js";
import { tablesArea } from "./tables/tables.area.js";
import { tasksArea } from "./tasks/tasks.area.js";
import { toolCallsArea } from "./tool-calls/tool-calls.area.js";
import { workspacesArea } from "./workspaces/workspaces.area.js";

/**
 * The areas of the domain, grouped in lines. An area may import code and types only from areas in earlier lines. Lint
 * reads this list (`.dependency-cruiser.cjs`), and `catalogue.ts` collects the definitions of all areas from it. To add
 * an area, add its manifest to a line. For a folder with only functions or views, add `defineArea` with its name.
 */
export const areaLines = [
  [tablesArea, defineArea({ name: "expressions" }), defineArea({ name: "statistics" })],
  [resourcesArea, outboundArea],
  [defineArea({ name: "export" })],
  [workspacesArea],
  [accessArea],
  [runnersArea, integrationsArea, codeHostArea],
  [linesArea],
  [eventsArea, runFactsArea, archivesArea],
  [runsArea],
  [pullRequestsArea, toolCallsArea],
  [tasksArea],
  [decisionsArea, defineArea({ name: "judging" }), integrationWorkArea],
  [hooksArea, replaysArea, configPullRequestsArea],
  [checksArea, searchesArea],
  [navigationArea],
] as const;

/** The argument types of the functions of all areas together. */
type PartsOf<Areas> = [Areas] extends [Area<infer Deployment, infer Actors, infer Effects, infer Topics>]
  ? { readonly deployment: Deployment; readonly actors: Actors; readonly effects: Effects; readonly topics: Topics }
  : never;
type Parts = PartsOf<(typeof areaLines)[number][number]>;

/** The settings of the deployment that the rules of kinds depend on. */
export type Deployment = Parts["deployment"];
/** The arguments of the functions that create actors: parts of the catalogue, and settings of the deployment. */
export type AllActorParts = Parts["actors"];
/** The services that effects use. */
export type EffectParts = Parts["effects"];
/** The arguments of the functions that create stream topics. */
export type TopicParts = Parts["topics"];

/** The areas, in the order of their lines. */
export const areas: readonly Area<Deployment, AllActorParts, EffectParts, TopicParts>[] = areaLines.flat();
