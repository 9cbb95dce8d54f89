/** Maximum number of characters of a line in the picture. */
const COLUMNS = 100;
const CHARACTER_PX = 7.2;
const LINE_PX = 18;
const MARGIN_PX = 16;

const STYLE = `
    text { font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #1f2328; white-space: pre; }
    .frame { fill: #f6f8fa; stroke: #d1d9e0; }
    .kind { fill: #0969da; }
    .typed { font-weight: 600; }
    @media (prefers-color-scheme: dark) {
      text { fill: #f0f6fc; }
      .frame { fill: #151b23; stroke: #3d444d; }
      .kind { fill: #4493f8; }
    }
  `;

/**
 * Returns an SVG image of a terminal: the typed command, and the lines that it printed. A line over the maximum length
 * ends with "…". The first word of each line is coloured.
 */
export function toTerminalSvg(command: string, lines: readonly string[]): string {
  const width = Math.round(COLUMNS * CHARACTER_PX + 2 * MARGIN_PX);
  const height = (lines.length + 1) * LINE_PX + 2 * MARGIN_PX;
  const texts = [`<tspan class="typed">$ ${escapeXml(command)}</tspan>`, ...lines.map(toText)];
  const rows = texts.map((text, index) => {
    const y = MARGIN_PX + (index + 1) * LINE_PX - 5;
    return `  <text x="${MARGIN_PX}" y="${y}" xml:space="preserve">${text}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title">
  <title id="title">A terminal with the command ${escapeXml(command)}, and lines that it printed</title>
  <style>${STYLE}</style>
  <rect class="frame" x="1" y="1" width="${width - 2}" height="${height - 2}" rx="8"/>
${rows.join("\n")}
</svg>
`;
}

function toText(line: string): string {
  const shown = line.length > COLUMNS ? `${line.slice(0, COLUMNS - 1)}…` : line;
  const kind = /^\S+ +/.exec(shown)?.[0] ?? "";
  return `<tspan class="kind">${escapeXml(kind)}</tspan>${escapeXml(shown.slice(kind.length))}`;
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
