import { DockerfileParser, type Instruction } from "dockerfile-ast";
import { example } from "./deployment.js";

/** A stage of the Dockerfile. It includes the instructions of the stages that it builds on. */
export interface Stage {
  readonly base: string;
  readonly user: string | null;
  readonly environment: Readonly<Record<string, string>>;
  readonly volumes: readonly string[];
  readonly ports: readonly number[];
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  /** The command of the health check; null if the stage has no health check. */
  readonly healthCheck: readonly string[] | null;
  /** The arguments of each `COPY`, from the build context or another stage. */
  readonly copies: readonly string[];
}

/** Reads the stages of the Dockerfile by name, in the order of the file. */
export function readStages(): ReadonlyMap<string, Stage> {
  const file = DockerfileParser.parse(example("Dockerfile"));
  const stages = new Map<string, Stage>();
  let name = "";
  let stage: Stage | undefined;
  const froms = new Map(file.getFROMs().map((from) => [from.getRange().start.line, from]));
  const environments = new Map(file.getENVs().map((env) => [env.getRange().start.line, env]));
  for (const instruction of file.getInstructions()) {
    const { line } = instruction.getRange().start;
    const from = froms.get(line);
    if (from !== undefined) {
      name = from.getBuildStage() ?? "";
      const base = from.getImage() ?? "";
      stage = stages.get(base) ?? emptyStage(base);
    } else if (stage !== undefined) {
      const added = (environments.get(line)?.getProperties() ?? []).map((each) => [each.getName(), each.getValue()]);
      stage = apply({ ...stage, environment: { ...stage.environment, ...Object.fromEntries(added) } }, instruction);
    }
    if (stage !== undefined) stages.set(name, stage);
  }
  return stages;
}

function emptyStage(base: string): Stage {
  const none = { user: null, environment: {}, healthCheck: null };
  return { base, ...none, volumes: [], ports: [], entrypoint: [], command: [], copies: [] };
}

function apply(stage: Stage, instruction: Instruction): Stage {
  const content = instruction.getArgumentsContent() ?? "";
  switch (instruction.getKeyword()) {
    case "USER":
      return { ...stage, user: content };
    case "VOLUME":
      return { ...stage, volumes: [...stage.volumes, content] };
    case "EXPOSE":
      return { ...stage, ports: [...stage.ports, Number(content)] };
    case "ENTRYPOINT":
      return { ...stage, entrypoint: JSON.parse(content) };
    case "CMD":
      return { ...stage, command: JSON.parse(content) };
    case "COPY":
      return { ...stage, copies: [...stage.copies, content] };
    case "HEALTHCHECK":
      return { ...stage, healthCheck: JSON.parse(/CMD (\[.*\])$/s.exec(content)?.[1] ?? "null") };
    default:
      return stage;
  }
}
