import { type Profiler, Session } from "node:inspector/promises";

/** Sampling interval of the profiler, in microseconds. */
const INTERVAL_MICROS = 200;

/** A function as the profiler reports it. */
export type Frame = Profiler.ProfileNode["callFrame"];

/** The call stack at one moment, innermost function first, and its duration in microseconds. */
export interface Sample {
  readonly frames: readonly Frame[];
  readonly micros: number;
}

/** Profiles the main thread of this process during `work`. Leaves out samples in which the thread was idle. */
export async function profile(work: () => Promise<void>): Promise<readonly Sample[]> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.setSamplingInterval", { interval: INTERVAL_MICROS });
  await session.post("Profiler.start");
  await work();
  const { profile: taken } = await session.post("Profiler.stop");
  session.disconnect();
  return toSamples(taken).filter(({ frames }) => frames[0]?.functionName !== "(idle)");
}

function toSamples({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): readonly Sample[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const callerOf = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const listFrames = (id: number): Frame[] => {
    const frames: Frame[] = [];
    for (let at: number | undefined = id; at !== undefined; at = callerOf.get(at)) {
      const node = byId.get(at);
      if (node !== undefined) frames.push(node.callFrame);
    }
    return frames;
  };
  const known = new Map<number, Frame[]>();
  return samples.map((id, index) => {
    const frames = known.get(id) ?? listFrames(id);
    known.set(id, frames);
    return { frames, micros: timeDeltas[index] ?? 0 };
  });
}
