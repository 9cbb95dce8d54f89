import { type Colour, toLine, toLines } from "../command/printable.js";
import { toFields, toTable } from "../command/table.js";
import type { Terminal } from "../command/terminal.js";
import { toTimeText } from "../command/time-text.js";
import type { Delivery } from "./delivery-names.js";

const COLOURS: Partial<Readonly<Record<Delivery["state"], Colour>>> = {
  done: "green",
  failed: "red",
  unrouted: "yellow",
  waiting: "yellow",
};

/** Shows a delivery with its headers, its body and the result of each entry. */
export function describeDelivery(terminal: Terminal, delivery: Delivery): readonly string[] {
  const { id, state, reason, source, key, keyProblem, receivedAt, endedAt, retryAt, repeated, skipped } = delivery;
  const fields: readonly (readonly [string, string | number | null])[] = [
    ["delivery", id],
    ["source", source],
    ["received", toTimeText(terminal, receivedAt)],
    ["ended", toTimeText(terminal, endedAt)],
    ["next attempt", toTimeText(terminal, retryAt)],
    ["key", key],
    ["no key", keyProblem],
    ["repeated", repeated === 0 ? null : `${repeated} times`],
    ["repeats", delivery.redeliveryOf],
    ["redelivered as", delivery.redeliveredAs],
    ["no event", skipped === 0 ? null : `${skipped} ${skipped === 1 ? "entry" : "entries"}`],
  ];
  const text = toLine(`${state}${reason === null ? "" : `: ${reason}`}`);
  const colour = COLOURS[state];
  return [
    colour === undefined ? text : terminal.paint(colour, text),
    ...toFields(
      terminal,
      fields.filter(([, value]) => value !== null),
    ),
    ...describeEntries(terminal, delivery),
    ...describePayload(terminal, delivery),
  ];
}

function describeEntries(terminal: Terminal, { entries }: Delivery): readonly string[] {
  if (entries.length === 0) return [];
  const columns = [
    { title: "event", of: ({ event }: Delivery["entries"][number]) => event, isFlexible: true },
    { title: "entry", of: ({ item }: Delivery["entries"][number]) => item, isFlexible: true },
    { title: "outcome", of: ({ outcome }: Delivery["entries"][number]) => outcome },
    { title: "task", of: ({ taskId }: Delivery["entries"][number]) => taskId },
    { title: "why", of: ({ reason }: Delivery["entries"][number]) => reason, isFlexible: true },
  ];
  return ["", ...toTable(terminal, columns, entries)];
}

function describePayload(terminal: Terminal, { headers, body, isCut, bodyBytes }: Delivery): readonly string[] {
  const named = Object.entries(headers).map(([name, value]) => toLine(`${name}: ${value}`));
  const text = body === null ? ["(the body was deleted to make room for newer ones)"] : toLines(body).split("\n");
  const rest = isCut ? [terminal.paint("dim", `(the first 64 KiB of ${bodyBytes} bytes)`)] : [];
  return ["", ...named, "", ...text, ...rest];
}
