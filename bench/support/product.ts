import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Product } from "./bench-service.js";

/** The possible paths of each module, which differ between commits. */
const places: Readonly<Record<keyof Product, readonly string[]>> = {
  readConfig: ["http/config.js", "http/process/config.js"],
  createLog: ["http/log.js", "http/process/log.js"],
  startService: ["http/service.js", "http/process/service.js"],
  openLmdbStore: ["storage/lmdb-store.js"],
};

/** Loads the product built in a checkout, which may be at another commit. */
export async function loadProduct(folder: string): Promise<Product> {
  const load = async <Name extends keyof Product>(name: Name): Promise<Product[Name]> => {
    const path = places[name].map((place) => join(folder, "dist", place)).find((place) => existsSync(place));
    if (path === undefined) throw new Error(`${folder} has none of ${places[name].join(", ")} built: build it first`);
    const module: Product = await import(pathToFileURL(path).href);
    return module[name];
  };
  return {
    readConfig: await load("readConfig"),
    createLog: await load("createLog"),
    startService: await load("startService"),
    openLmdbStore: await load("openLmdbStore"),
  };
}
