/** A renderer of GitHub's Markdown, which comes without types. */
declare module "marked" {
  export function parse(markdown: string): string;
}
