import { parseValues } from "./hcl-values.js";
import type { EditOutcome, EditRefusal, EditRun, SourceTree, WantedStation } from "./station-edit.js";

/**
 * What to change in a repository so that a line's source holds the wanted station: the values that differ and nothing
 * else, or why that cannot be. It reads the tree and changes nothing. Rejects with what the tree rejects with, and when
 * its run is ended early.
 */
export async function editStation(tree: SourceTree, wanted: WantedStation, run: EditRun): Promise<EditOutcome> {
  const { path } = wanted;
  if (run.signal.aborted) throw run.signal.reason;
  if (!/\.(tf|tofu)$/.test(path)) return refused("not-hcl", `${path} is no file of HCL: .tf or .tofu.`);
  const text = await tree.read(path);
  if (text === null) return refused("not-found", `There is no ${path} that can be read.`);
  const parsed = await parseValues(path, text);
  if ("fault" in parsed) return refused("not-hcl", `${path} is no HCL: ${parsed.fault}`);
  return refused("not-proven", `${path} is not edited by the service yet.`);
}

function refused(code: EditRefusal["code"], message: string): EditOutcome {
  return { refused: { code, message, attribute: null, expression: null, wanted: null } };
}
