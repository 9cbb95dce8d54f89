/** A renderer for GitHub's Markdown; the package has no types. */
declare module "marked" {
  export function parse(markdown: string): string;
}
