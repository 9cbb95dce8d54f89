import { dirname, posix } from "node:path";
import { type AttributeEdit, editAttribute, writesMembers } from "./edit-attribute.js";
import { EditRefused, refuse, type Source, toPlace } from "./edit-source.js";
import { type FileAttribute, refuseOtherFile } from "./file-attribute.js";
import { type FoundStation, findStation, memberNamed, type SoughtStation } from "./find-station.js";
import { formatEdit } from "./format-edit.js";
import { remembering, toText } from "./hcl-syntax.js";
import { isAlphabetical } from "./insert-attribute.js";
import { refuseIgnored } from "./lifecycle.js";
import { refuseLineBlocks } from "./line-blocks.js";
import { refuseLineReaders } from "./line-readers.js";
import { findInstance, type ModuleInstance } from "./module-instances.js";
import { type ModuleScope, openScope } from "./module-scope.js";
import type { Parsers } from "./parsers.js";
import { type ProvenChange, proveEdit } from "./prove-edit.js";
import { findOtherReader } from "./read-elsewhere.js";
import { readSource } from "./read-source.js";
import { isModuleFile, isOverride, openRepository, type Repository, whyUnread } from "./repository.js";
import { refuseGenerated } from "./source-copies.js";
import { type Splice, spliced } from "./splice.js";
import { listStationChanges, type StationChange, toName } from "./station-changes.js";
import type { EditOutcome, FileEdit, SourceTree, WantedStation } from "./station-edit.js";
import { withWanted } from "./wanted-values.js";

/** Like `editStation`, but runs in the current thread. */
export async function makeEdit(given: Parsers, tree: SourceTree, wanted: WantedStation): Promise<EditOutcome> {
  const parsers: Parsers = { ...given, syntax: remembering(given.syntax) };
  try {
    const path = posix.normalize(wanted.path).replace(/^\/+/, "");
    const repository = await openRepository(tree, parsers);
    return { files: await edit(parsers, repository, { ...wanted, path }) };
  } catch (error) {
    if (error instanceof EditRefused) return { refused: withWanted(error.refusal, wanted) };
    throw error;
  }
}

async function edit(parsers: Parsers, repository: Repository, wanted: WantedStation): Promise<readonly FileEdit[]> {
  const { path, live } = wanted;
  refuseModule(repository, path);
  const text = await repository.read(path);
  if (typeof text !== "string") refuse("not-found", `At ${path}:1: the file ${whyUnread(text)}.`);
  const instance = await findInstance(repository, path, wanted);
  const scope = await openScope(repository, path, instance);
  const before = await readSource(parsers, { path, text }, scope);
  const sought = { ...wanted, teamsOf: scope.listTeams, problem: instance.problem };
  const found = findStation(before, sought);
  const editing = { source: before, found, live, wanted: wanted.wanted };
  const changes = listStationChanges(live, wanted.wanted, (attribute) => writesMembers(editing, attribute));
  if (changes.length === 0) refuse("changed-meanwhile", "The live station already has the wanted values.");
  // Insertions at the same position keep this order, so sort the changes if the station's attributes are sorted.
  const ordered = isAlphabetical(found.station) ? [...changes].sort(byName) : changes;
  const edits = ordered.map((change) => editAttribute(editing, change));
  refuseInstances({ source: before, found, instance }, sought);
  refuseGenerated(repository, { path, text });
  refuseIgnored(before, found, changes);
  await refuseLineBlocks(repository, before, { found, calls: instance.calls, team: wanted.team });
  await refuseLineReaders(repository, before, { found, calls: instance.calls, lineKey: wanted.lineKey });

  const texts: FileEdit[] = [];
  for (const each of edits) {
    if ("file" in each) texts.push(await editFile(repository, { source: before, edit: each }));
  }
  const values = edits.flatMap((each) => ("splices" in each ? [each] : []));
  if (values.length === 0) return texts;
  const after = await editText(parsers, { before, found, scope, sought }, values);
  return [{ path, before: text, after }, ...texts];
}

/**
 * Returns the edited text of a source, checked with {@link proveEdit}. If the line's resource or the station was
 * formatted before the edit, that resource or station stays formatted.
 */
async function editText(
  parsers: Parsers,
  of: {
    readonly before: Source;
    readonly found: FoundStation;
    readonly scope: ModuleScope;
    readonly sought: WantedStation & SoughtStation;
  },
  changes: readonly (ProvenChange & { readonly splices: readonly Splice[] })[],
): Promise<string> {
  const { before, found, scope, sought } = of;
  const { path } = before;
  const read = async (text: string): Promise<Source> => {
    try {
      return await readSource(parsers, { path, text }, scope);
    } catch (error) {
      if (!(error instanceof EditRefused)) throw error;
      const at = toPlace(before, found.station.node);
      return refuse("not-proven", `At ${at}, the edited source would not be valid HCL: ${error.message}`);
    }
  };
  const edited = spliced(
    before.text,
    changes.flatMap(({ splices }) => splices),
  );
  const raw = await read(edited);
  const place = findStation(raw, sought);
  const text = await formatEdit(
    { text: before.text, resource: found.resource, station: found.station.node },
    { text: edited, resource: place.resource, station: place.station.node },
  );
  proveEdit({ before, after: text === edited ? raw : await read(text) }, changes, sought);
  return text;
}

function byName(left: StationChange, right: StationChange): number {
  return toName(left) < toName(right) ? -1 : 1;
}

/**
 * Refuses a source that is missing, is not a plain HCL file, or has a name that Terraform ignores. Also refuses a
 * module in which another file may override or replace the source.
 */
function refuseModule({ entries, links }: Repository, path: string): void {
  const at = `At ${path}:1`;
  const link = links.on(path);
  if (link !== null) refuse("ambiguous", `${at}: the file is reached through the symlink ${link}.`);
  if (!/\.(tf|tofu)$/.test(path))
    refuse("not-hcl", `${at}: the file is not HCL. Names of such files end with .tf or .tofu.`);
  if (entries.find((each) => each.path === path)?.kind !== "file") refuse("not-found", `${at}: there is no such file.`);
  if (!isModuleFile(path))
    refuse("not-proven", `${at}: Terraform ignores files of this name. The edit would change nothing.`);
  const others = entries.filter((each) => dirname(each.path) === dirname(path)).map((each) => each.path);
  const override = others.find(isOverride);
  if (override !== undefined) refuse("ambiguous", `${at}: ${override}:1 may override the file.`);
  const twin = others.find((each) => each === path.replace(/\.tf$/, ".tofu") && each !== path);
  if (twin !== undefined) refuse("ambiguous", `${at}: ${twin}:1 may be read instead of the file.`);
}

/**
 * Refuses a line whose module may have no instance or several instances, or may be changed by other code. If the only
 * problem is that the repository cannot be fully searched, accepts a line whose `team_id` is the team's own id, because
 * every instance is then the same line.
 */
function refuseInstances(
  {
    source,
    found,
    instance,
  }: { readonly source: Source; readonly found: FoundStation; readonly instance: ModuleInstance },
  { team, teamsOf: listTeams }: SoughtStation,
): void {
  const { problem } = instance;
  if (problem === null) return;
  const written = memberNamed(found.line, "team_id");
  const named = written === undefined ? [] : listTeams(toText(source.text, written.value));
  const isOwn =
    named.length > 0 &&
    named.every(({ team: each }) => each !== null && each !== "input" && "id" in each && each.id === team.id);
  if (problem.isUnknown && isOwn) return;
  refuse(problem.code, `At ${toPlace(source, found.resource)}: ${problem.message}`);
}

/** Returns the edit of a file whose text is an attribute's value. */
async function editFile(
  repository: Repository,
  {
    source,
    edit: {
      file: { path: target, isChomped },
      node,
      change,
    },
  }: { readonly source: Source; readonly edit: Extract<AttributeEdit, { readonly file: FileAttribute }> },
): Promise<FileEdit> {
  const attribute = toName(change);
  refuseOtherFile(source, repository, { target, node, attribute });
  const begin = `At ${toPlace(source, node)}, ${attribute} is the file ${target}, which`;
  const about = { attribute, expression: toText(source.text, node) };
  const before = await repository.read(target);
  if (typeof before !== "string") refuse("not-found", `${begin} ${whyUnread(before)}.`, about);
  const value = isChomped ? before.replace(/[\r\n]+$/, "") : before;
  if (typeof change.now !== "string" || !isSame(value, change.was)) {
    const isWanted = isSame(value, change.now);
    const what = isWanted ? "already has the wanted content" : "does not contain the live station's value";
    refuse("changed-meanwhile", `${begin} ${what}.`, about);
  }
  const other = await findOtherReader(repository, { target, module: dirname(source.path), path: source.path, node });
  if (other !== null) refuse("ambiguous", `${begin} may be read elsewhere too: ${other}.`, about);
  return { path: target, before, after: `${change.now}${before.slice(value.length)}` };
}

/**
 * Compares texts in Unicode NFC, because HCL normalizes all texts to NFC. A value that is not a text counts as an empty
 * text.
 */
function isSame(text: string, value: unknown): boolean {
  return text.normalize("NFC") === (typeof value === "string" ? value.normalize("NFC") : "");
}
