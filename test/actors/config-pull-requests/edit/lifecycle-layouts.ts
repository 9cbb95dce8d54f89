import { type Layout, line } from "./layout.js";

/**
 * Layouts for each attribute of `lifecycle`. With some values, a change of the station's model has no effect or may
 * have none. With the other values, the change takes effect.
 */
export function lifecycleLayouts(): readonly Layout[] {
  const ignoring = [
    ...[
      "all",
      "[stations]",
      '["stations"]',
      "[stations[0]]",
      "[stations[0].model]",
      "[ name, stations ]",
      "[stations[*].model]",
    ],
    ...['["stations.0.model"]', "[stations[0].model, team_id]", '[stations[0]["model"]]', "(all)", "[all]", '["*"]'],
    "[ # why\n      stations, # all of it\n    ]",
  ].map((value) => `ignore_changes = ${value}`);
  const harmless = [
    ...["create_before_destroy = true", "prevent_destroy = true", "ignore_changes = []", "ignore_changes = [name]"],
    ...[
      "ignore_changes = [stations[0].prompt]",
      "ignore_changes = [stations[1]]",
      "ignore_changes = [stations[1].model]",
      'ignore_changes = [stations[0]["prompt"]]',
      "ignore_changes = [ /* stations */ name ]",
    ],
    ...["replace_triggered_by = [service_team.core]", "enabled = true", "destroy = false"],
    ...["enabled = (true)", "enabled = ( (true) )", 'enabled = "true"'],
    ...[
      'precondition {\n      condition = true\n      error_message = "x"\n    }',
      'postcondition {\n      condition = self.key != ""\n      error_message = "x"\n    }',
    ],
    ...["action_trigger {\n      events = [after_update]\n      actions = [action.x.y]\n    }"],
  ];
  const read = (body: string, isRefused: boolean): Layout => ({
    says: `lifecycle { ${body} }`,
    path: "main.tf",
    change: "model",
    files: { "main.tf": line({ more: `  lifecycle {\n    ${body}\n  }` }) },
    refused: isRefused ? { code: "not-proven", place: /At main\.tf:1[23], lifecycle/ } : null,
  });
  return [
    ...[...ignoring, "enabled = false", "enabled = (false)", "enabled = var.on", "enabled = (var.on)"].map((body) =>
      read(body, true),
    ),
    ...harmless.map((body) => read(body, false)),
  ];
}
