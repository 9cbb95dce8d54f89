import { type Scripted, type ScriptedModel, startScriptedModel } from "../../http/demo/scripted-model.js";
import type { Cleaning } from "./service.js";

/** Starts a scripted model on the loopback interface, for one test. */
export async function modelServer(t: Cleaning, usual?: Scripted): Promise<ScriptedModel> {
  const server = await startScriptedModel(usual);
  t.teardown(() => server.close());
  return server;
}
