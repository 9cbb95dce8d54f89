resource "service_workspace_token_trust" "replay-check" {
  workspace_id = "<workspace id>"
  key          = "replay-check"
  issuer       = "https://token.actions.githubusercontent.com"
  audience     = "service"
  subject      = "repo:acme/app:pull_request"
  claims = {
    event_name       = "pull_request"
    job_workflow_ref = "acme/app/.github/workflows/replay-check.yml@refs/pull/*/merge"
  }
  scopes           = ["plan"]
  lifetime_minutes = 15
}
