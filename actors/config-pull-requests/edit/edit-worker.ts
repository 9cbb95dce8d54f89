import { parentPort, workerData } from "node:worker_threads";
import { formatText } from "./format-edit.js";
import { loadSyntax } from "./hcl-syntax.js";
import { parseValues } from "./hcl-values.js";
import { makeEdit } from "./make-edit.js";
import { type PackedList, unpackList } from "./packed-list.js";
import type { EditOutcome, SourceTree, UnreadFile, WantedStation } from "./station-edit.js";

/**
 * A message from the edit thread: a read request, the file that the thread starts to parse, or the final outcome. A
 * null path requests the list of entries.
 */
export type Asked =
  | { readonly id: number; readonly path: string | null }
  | { readonly parses: string }
  | { readonly outcome: EditOutcome };

/** The response to a read request. */
export interface ReadResponse {
  readonly id: number;
  readonly value: PackedList | string | UnreadFile | null;
}

const port = parentPort;
if (port === null) throw new Error("this is the thread of an edit");

const waiting = new Map<number, (value: ReadResponse["value"]) => void>();
let asked = 0;
port.on("message", ({ id, value }: ReadResponse) => {
  waiting.get(id)?.(value);
  waiting.delete(id);
});

function ask(path: string | null): Promise<ReadResponse["value"]> {
  asked += 1;
  const id = asked;
  return new Promise((resolve) => {
    waiting.set(id, resolve);
    port?.postMessage({ id, path } satisfies Asked);
  });
}

const tree: SourceTree = {
  async list() {
    const listed = await ask(null);
    if (listed === null || typeof listed === "string" || !("entries" in listed)) throw new Error("a file is no list");
    return unpackList(listed);
  },
  async read(path) {
    const file = await ask(path);
    if (file !== null && typeof file !== "string" && "entries" in file) throw new Error("a list is no file");
    return file;
  },
};

const wanted: WantedStation = workerData;
// Load the slow parsers before the first request: the service counts computing time only after that request. Both
// modules that are compiled from Go set the same global while they load, so load them one after the other.
const syntax = await loadSyntax();
await parseValues("main.tf", "");
await formatText("");
const onFile = (path: string): void => port.postMessage({ parses: path } satisfies Asked);
const outcome = await makeEdit({ syntax, parseValues, onFile }, tree, wanted);
port.postMessage({ outcome } satisfies Asked);
