import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CommandCase, CommandScene } from "../../../support/command-cases.js";

/** A scene whose service is stopped. `folder` returns a new, empty folder. */
export interface StoreScene extends CommandScene {
  readonly folder: () => string;
}

/** Creates a folder. Returns its path and a function that creates further folders in it. */
export function folderMaker(): { readonly parent: string; readonly folder: () => string } {
  const parent = mkdtempSync(join(tmpdir(), "signalbox-store-"));
  return { parent, folder: () => mkdtempSync(join(parent, "copy-")) };
}

const stopped = ({ service }: StoreScene) => ["--data", service.folder];
const none = ["--data"];

export const storeCases: readonly CommandCase<StoreScene>[] = [
  {
    name: "backup",
    args: (scene) => [...stopped(scene), "--to", scene.folder()],
    prints:
      /^copied \S+ to \S+; without \S+\/secrets\.key or SECRETS_KEY nobody can read its secrets: keep the key in another place$/,
    json: { data: String, to: /copy-/ },
    wrong: ["--data", "x"],
  },
  {
    name: "restore",
    args: async ({ signalbox, service, folder }) => {
      const copy = folder();
      await signalbox.run(["backup", "--data", service.folder, "--to", copy]);
      return ["--from", copy, "--data", folder()];
    },
    prints: /^restored \S+ into \S+; put its secrets\.key there too, unless SECRETS_KEY is set$/,
    json: { from: /copy-/, data: /copy-/ },
    wrong: ["--from", "x"],
  },
  { name: "dead-letters", args: stopped, prints: /^$/, json: { items: [] }, wrong: none },
  {
    name: "doctor",
    args: stopped,
    prints: /^\S+ is whole$/,
    json: { faults: 0, pages: [], findings: [] },
    wrong: none,
  },
  {
    name: "compact",
    args: stopped,
    prints: /^compacted \S+: \d+ bytes before, \d+ after; all \d+ entries are intact$/,
    json: { beforeBytes: Number, afterBytes: Number, entries: Number },
    wrong: [],
  },
  {
    name: "rebuild-directory",
    args: stopped,
    prints: /^rebuilt the directory of \S+: \d+ entries$/,
    json: { entries: Number },
    wrong: ["--data", "x", "y"],
  },
  {
    name: "recount-bodies",
    args: stopped,
    prints: /^recounted the bodies of \S+: 0 corrected$/,
    json: { corrected: 0, missing: 0, findings: [] },
    wrong: ["--no-such-option"],
  },
];
