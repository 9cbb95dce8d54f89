import type { Option } from "commander";
import type { Context } from "./context.js";
import { countOption } from "./count-option.js";

/** The option `--limit`. */
export interface LimitOption {
  readonly limit: number;
}

const DEFAULT_LIMIT = 20;
/** The largest page of a list. */
const MAX_PAGE = 200;

/** Creates the option `--limit`. */
export function limitOption(): Option {
  return countOption("--limit <number>", "how many to list", { default: DEFAULT_LIMIT });
}

/**
 * Returns the page size to request, at most {@link MAX_PAGE}. The page size is one more than the limit, so that the
 * response shows whether there are more items.
 */
export function toPageSize(limit: number): number {
  return Math.min(limit + 1, MAX_PAGE);
}

/** The first items of a list. */
export interface Limited<Item> {
  readonly items: readonly Item[];
  readonly hasMore: boolean;
}

/** Returns the first `limit` items, and whether there are more. */
export async function takeItems<Item>(items: AsyncIterable<Item>, limit: number): Promise<Limited<Item>> {
  const taken: Item[] = [];
  for await (const item of items) {
    if (taken.length === limit) return { items: taken, hasMore: true };
    taken.push(item);
  }
  return { items: taken, hasMore: false };
}

/** Prints a list, or that it is empty, and notes when there are more results. */
export function showList<Item>(
  context: Context,
  list: Limited<Item>,
  { none, toLines }: { readonly none: string; readonly toLines: () => readonly string[] },
): void {
  const { items, hasMore } = list;
  if (items.length === 0) context.terminal.note(none);
  context.show(list, () => (items.length === 0 ? [] : toLines()));
  if (hasMore) context.terminal.note(`more results: use --limit ${items.length * 5}`);
}
