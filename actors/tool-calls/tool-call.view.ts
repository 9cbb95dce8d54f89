import { z } from "zod";
import type { TextReference } from "../../runtime/feeds/feed-texts.js";
import type { Reading } from "../../storage/store.js";
import { readJson } from "../exact-json.js";
import { parseInputs } from "../runners/call-inputs.js";
import { readStoredText, type StoredText, toStreamText } from "../tables/text-blobs.js";
import { defineView, type Shown } from "../view.js";
import { type ToolCallRow, toolCallSchema } from "./tool-call.js";

const common = {
  taskId: ({ taskId }: ToolCallRow) => taskId ?? "",
  recorded: ({ recorded }: ToolCallRow) => recorded ?? null,
};

type ReadText = (stored: StoredText) => string;

const showCall = defineView<ToolCallRow, ReadText>()(toolCallSchema, {
  ...common,
  inputs: ({ inputs }, read) => ({ ...parseInputs(read(inputs)) }),
  edited: ({ edited }, read) => (edited === null ? null : { ...parseInputs(read(edited)) }),
  output: ({ output }, read) => (output === null ? null : readJson(read(output))),
});

/** Shows a call with its texts. */
export function toolCallView(reading: Reading, workspaceId: string, call: ToolCallRow): Shown<typeof toolCallSchema> {
  return showCall(call, (stored) => readStoredText(reading, workspaceId, stored));
}

const streamedText = z.custom<unknown | TextReference>();
/** A call in the form that streams send. Long values are only available in the API. */
const streamedCallSchema = toolCallSchema.extend({ inputs: streamedText, edited: streamedText, output: streamedText });
export type StreamedToolCall = Shown<typeof streamedCallSchema>;

/** Shows a call in the form that streams send. */
export const streamedToolCallView = defineView<ToolCallRow>()(streamedCallSchema, {
  ...common,
  inputs: ({ inputs }) => toStreamJson(inputs),
  edited: ({ edited }) => (edited === null ? null : toStreamJson(edited)),
  output: ({ output }) => (output === null ? null : toStreamJson(output)),
});

function toStreamJson(stored: StoredText): unknown {
  const text = toStreamText(stored);
  return typeof text === "string" ? readJson(text) : text;
}
