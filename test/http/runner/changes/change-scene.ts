import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Test } from "tap";
import { type Checkout, createCheckout } from "../../../../http/runner/checkout/checkout.js";
import { Mirrors } from "../../../../http/runner/checkout/mirrors.js";
import { inRepository, layRepository } from "../../../support/repository.js";
import { readChanges } from "../read-changes.js";

/** A repository `acme/app` with its checkouts. */
export interface ChangeScene {
  readonly folder: string;
  readonly repository: string;
  readonly git: (...args: string[]) => string;
  /** Checks out `acme/app` into a separate folder. */
  readonly lay: (name: string, more?: { base?: string; diff?: string; url?: string }) => Promise<Checkout>;
}

/** Creates a repository with these files in one commit. */
export function changeScene(t: Test, files: Readonly<Record<string, string | Buffer>>): ChangeScene {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-changes-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const repository = join(folder, "repositories/acme/app");
  layRepository(repository, files);
  const git = (...args: string[]) => inRepository(repository, ...args);
  const lay: ChangeScene["lay"] = (
    name,
    { base = null, diff = "", url = join(folder, "repositories/{name}") } = {},
  ) => {
    const mirrors = new Mirrors({ workFolder: join(folder, `work-${name}`), gitUrl: url });
    const wanted = { repository: "acme/app", setup: null, image: null, base, diff };
    const { signal } = new AbortController();
    return createCheckout(mirrors, wanted, {
      folder: join(folder, name),
      record: join(folder, `${name}.record`),
      signal,
    });
  };
  return { folder, repository, git, lay };
}

/** Makes another checkout of the repository. The new checkout starts with the changes of the given checkout. */
export async function carried({ lay }: ChangeScene, checkout: Checkout): Promise<Checkout> {
  return lay("carried", { base: checkout.base, diff: await readChanges(checkout) });
}

export function put(folder: string, name: string, content: string | Buffer): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), content);
}

export const toBytes = (checkout: Checkout, name: string): Buffer => readFileSync(join(checkout.folder, name));

/** Returns the names of changed files, in the diff's order. */
export function listPaths(diff: string): string[] {
  return [...diff.matchAll(/^diff --git (?:"a\/(.*?)"|a\/(.*?)) (?:"?b\/)/gm)].map(
    ([, quoted, plain]) => quoted ?? plain ?? "",
  );
}
