import type { CommonOptions, Context } from "../command/context.js";

/** Makes a team the default of this folder. */
export async function use(context: Context, _options: CommonOptions, name: string): Promise<void> {
  const { key, workspace } = await context.names.team(name);
  context.remember({ workspace: workspace.slug, team: key });
  context.show({ workspace: workspace.slug, team: key }, () => [
    `default team of this folder: ${workspace.slug}/${key}`,
  ]);
}
