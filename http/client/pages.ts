import type { Answer, Options, PathWith } from "./calls.js";
import type { Client } from "./client.js";

type QueryOf<Path extends PathWith<"get">> =
  Options<"get", Path> extends { readonly query?: infer Query } ? Query : never;

/**
 * The query parameter that takes the `next` member of the previous page: `before` for lists with the newest item first,
 * otherwise `after`.
 */
type CursorOf<Path extends PathWith<"get">> = Extract<keyof NonNullable<QueryOf<Path>>, "before" | "after">;

/** The paths of lists with pages. */
export type ListPath = {
  [Path in PathWith<"get">]: Answer<"get", Path> extends { readonly items: readonly unknown[]; readonly next: unknown }
    ? Path
    : never;
}[PathWith<"get">];

/** An item of a list. */
export type Item<Path extends ListPath> =
  Answer<"get", Path> extends { readonly items: readonly (infer Found)[] } ? Found : never;

interface Page<Found> {
  readonly items: readonly Found[];
  readonly next: string | null;
}

/**
 * Yields the items of a list over all its pages: `listAll(client, "/api/teams/{teamId}/tasks", "before", { path })`.
 * The next page is requested when the items of the previous page are used up.
 */
export async function* listAll<Path extends ListPath>(
  client: Client,
  path: Path,
  cursor: CursorOf<Path>,
  options: Options<"get", Path>,
): AsyncGenerator<Item<Path>, void, undefined> {
  const get = client.get as (path: Path, options: unknown) => Promise<Page<Item<Path>>>;
  const { query } = options as { readonly query?: object };
  for (let at: string | null = ""; at !== null; ) {
    const page: Page<Item<Path>> = await get(path, {
      ...options,
      query: at === "" ? query : { ...query, [cursor]: at },
    });
    yield* page.items;
    at = page.next;
  }
}
