import { dirname, posix } from "node:path";
import { type AttributeEdit, editAttribute, nameOf, writesMembers } from "./edit-attribute.js";
import { EditRefused, placeOf, refuse, type Source } from "./edit-source.js";
import { findLink, refuseOtherFile } from "./file-attribute.js";
import { findStation } from "./find-station.js";
import { type Syntax, textOf } from "./hcl-syntax.js";
import type { ParsedValues } from "./hcl-values.js";
import { isAlphabetical } from "./insert-attribute.js";
import { proveEdit } from "./prove-edit.js";
import { findOtherReader } from "./read-elsewhere.js";
import { spliced } from "./splice.js";
import { listStationChanges, type StationChange } from "./station-changes.js";
import type { EditOutcome, FileEdit, SourceTree, TreeEntry, WantedStation } from "./station-edit.js";
import { writeWanted } from "./value-text.js";

/** What reads HCL: one says where everything stands, the other what it says. */
export interface Parsers {
  readonly syntax: Syntax;
  readonly parseValues: (path: string, text: string) => Promise<ParsedValues>;
}

interface Repository {
  readonly tree: SourceTree;
  readonly entries: readonly TreeEntry[];
  /** Whether `entries` are all of them. */
  readonly isWhole: boolean;
}

/** As `editStation`, in this thread. */
export async function makeEdit(parsers: Parsers, tree: SourceTree, wanted: WantedStation): Promise<EditOutcome> {
  try {
    const path = posix.normalize(wanted.path).replace(/^\/+/, "");
    return { files: await edit(parsers, { tree, ...(await tree.list()) }, { ...wanted, path }) };
  } catch (error) {
    if (error instanceof EditRefused) return { refused: error.refusal };
    throw error;
  }
}

async function edit(parsers: Parsers, repository: Repository, wanted: WantedStation): Promise<readonly FileEdit[]> {
  const { path, live } = wanted;
  refuseModule(repository.entries, path);
  const text = await repository.tree.read(path);
  if (text === null) refuse("not-found", `${path} cannot be read.`);
  const before = await readSource(parsers, path, text);
  const found = findStation(before, wanted);
  const editing = { source: before, found, live, wanted: wanted.wanted };
  const changes = listStationChanges(live, wanted.wanted, (attribute) => writesMembers(editing, attribute));
  if (changes.length === 0) refuse("changed-meanwhile", "The live station is as wanted already.");
  // Those that come to stand at one place stand there in this order.
  const ordered = isAlphabetical(found.station) ? [...changes].sort(byName) : changes;
  const edits = ordered.map((change) => editAttribute(editing, change));

  const texts: FileEdit[] = [];
  for (const each of edits) {
    if ("file" in each) texts.push(await editFile(parsers, repository, { source: before, edit: each }));
  }
  const values = edits.flatMap((each) => ("splices" in each ? [each] : []));
  if (values.length === 0) return texts;
  const after = spliced(
    text,
    values.flatMap(({ splices }) => splices),
  );
  const parsed = await parsers.parseValues(path, after);
  if ("fault" in parsed) refuse("not-proven", `${path} as edited would be no HCL: ${parsed.fault}`);
  const edited = { path, text: after, root: parsers.syntax.parse(after), values: parsed.values };
  proveEdit({ before, after: edited }, values, wanted);
  return [{ path, before: text, after }, ...texts];
}

function byName(left: StationChange, right: StationChange): number {
  return nameOf(left) < nameOf(right) ? -1 : 1;
}

async function readSource({ syntax, parseValues }: Parsers, path: string, text: string): Promise<Source> {
  const parsed = await parseValues(path, text);
  if ("fault" in parsed) refuse("not-hcl", `${path} is no HCL: ${parsed.fault}`);
  return { path, text, root: syntax.parse(text), values: parsed.values };
}

/** Refuses a source that is no file of HCL of its own, and a module whose other files replace what it says. */
function refuseModule(entries: readonly TreeEntry[], path: string): void {
  const link = findLink(entries, path);
  if (link !== null) refuse("ambiguous", `${path} is reached over the symlink ${link}.`);
  if (!/\.(tf|tofu)$/.test(path)) refuse("not-hcl", `${path} is no file of HCL, which end with .tf or .tofu.`);
  if (entries.find((each) => each.path === path)?.kind !== "file") refuse("not-found", `There is no file ${path}.`);
  const others = entries.filter((each) => dirname(each.path) === dirname(path)).map((each) => each.path);
  const override = others.find((each) => /(^|[/_])override\.(tf|tofu)(\.json)?$/.test(each));
  if (override !== undefined) refuse("ambiguous", `${override} may override what ${path} says.`);
  const twin = others.find((each) => each === path.replace(/\.tf$/, ".tofu") && each !== path);
  if (twin !== undefined) refuse("ambiguous", `${twin} may be read in the place of ${path}.`);
}

/** The edit of the file that an attribute is the text of. */
async function editFile(
  { syntax }: Parsers,
  { tree, entries, isWhole }: Repository,
  at: {
    readonly source: Source;
    readonly edit: Extract<AttributeEdit, { readonly file: string }>;
  },
): Promise<FileEdit> {
  const { source, edit } = at;
  const { file: target, node, change } = edit;
  const attribute = nameOf(change);
  refuseOtherFile(source, entries, { target, node, attribute });
  const begin = `At ${placeOf(source, node)}, ${attribute} is the file ${target}, which`;
  const about = { attribute, expression: textOf(source.text, node), wanted: writeWanted(change.now) };
  const before = await tree.read(target);
  if (before === null) refuse("not-found", `${begin} cannot be read.`, about);
  if (typeof change.now !== "string" || !isSame(before, change.was)) {
    const isWanted = isSame(before, change.now);
    const what = isWanted ? "is as wanted already" : "does not hold what the live station has";
    refuse("changed-meanwhile", `${begin} ${what}.`, about);
  }
  if (!isWhole)
    refuse("ambiguous", `${begin} may be read elsewhere: the repository is too large to look through.`, about);
  const other = await findOtherReader({ tree, entries, syntax }, { target, path: source.path, node });
  if (other !== null) refuse("ambiguous", `${begin} may be read elsewhere too: at ${other}.`, about);
  return { path: target, before, after: change.now };
}

/** HCL has texts in Unicode's form C alone, whatever the file has; null is a text that is not set. */
function isSame(text: string, value: unknown): boolean {
  return text.normalize("NFC") === (typeof value === "string" ? value.normalize("NFC") : "");
}
