import { z } from "zod";
import { defineTool } from "./tool.js";
import { describeList, toTitle, untrusted } from "./views.js";

const MAX_LINES = 200;

const lineView = z.object({
  team: z.string().describe("<workspace>/<team>, as the input team of other tools takes it"),
  line: z.string(),
  stations: z.array(z.string()),
  repositories: z.array(z.string()),
  untrusted: untrusted({ name: z.string() }),
});

const listLines = defineTool({
  name: "line_list",
  description: "List the lines on which the person can open tasks, with their teams, stations and repositories.",
  effect: { kind: "reads" },
  input: z.strictObject({}),
  output: z.object({ lines: z.array(lineView), more: z.number().describe("Number of lines that are not listed") }),
  run: async ({ context }) => {
    const { client, names } = context;
    const all: z.output<typeof lineView>[] = [];
    for (const { id, slug } of await names.workspaces()) {
      const path = { workspaceId: id };
      const { items } = await client.get("/api/resources/workspaces/{workspaceId}/lines", { path });
      for (const { address, key, name, stations, repositories } of items) {
        all.push({
          team: `${slug}/${address.slice(0, address.indexOf("/"))}`,
          line: key,
          stations: stations.map((station) => station.key),
          repositories: repositories.map((repository) => repository.name),
          untrusted: { name: toTitle(name) },
        });
      }
    }
    const lines = all.slice(0, MAX_LINES);
    const more = all.length - lines.length;
    const listed = lines.map(
      ({ team, line, stations, repositories, untrusted: { name } }) =>
        `${team}: ${line} (${name}), stations ${stations.join(", ")}, repositories ${repositories.join(", ")}`,
    );
    return {
      says: `${describeList(lines.length, "line", more === 0 ? null : "signalbox export shows all")}.`,
      texts: [{ of: "lines", text: listed.join("\n") }],
      data: { lines, more },
    };
  },
});

export const lineTools = [listLines];
