/** A reader of GitHub's Markdown; the package has no types. */
declare module "marked" {
  /** A part of a page. In a code block, `text` is the code, and `lang` is the text after the opening fence. */
  export interface Token {
    readonly type: string;
    readonly text: string;
    readonly raw: string;
    /** The level of a heading, from 1; absent for other parts. */
    readonly depth?: number;
    readonly lang?: string;
    readonly href?: string;
    /** The rows of a table, without its header. */
    readonly rows?: readonly (readonly { readonly text: string }[])[];
    readonly codeBlockStyle?: "indented";
  }
  export function parse(markdown: string): string;
  export function lexer(markdown: string): readonly Token[];
  export function walkTokens(tokens: readonly Token[], visit: (token: Token) => void): void;
}
