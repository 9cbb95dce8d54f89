variable "workspace_id" {
  type        = string
  description = "The workspace."
}

variable "team_id" {
  type        = string
  description = "The team that has the integration."
}

variable "issues_token" {
  type        = string
  description = "A token that may write issues."
  sensitive   = true
}

variable "issues_webhook" {
  type        = string
  description = "What deliveries are signed with."
  sensitive   = true
}

resource "service_secret" "issues_token" {
  workspace_id     = var.workspace_id
  name             = "issues-token"
  value_wo         = var.issues_token
  value_wo_version = 1
  hosts            = ["api.github.com"]
}

resource "service_secret" "issues_webhook" {
  workspace_id     = var.workspace_id
  name             = "issues-webhook"
  value_wo         = var.issues_webhook
  value_wo_version = 1
}

resource "service_integration" "issues" {
  team_id     = var.team_id
  integration = "issues"
  name        = "Issues of the code host"
  hosts       = ["api.github.com"]
  webhook = {
    verify = {
      hmac = {
        secret = service_secret.issues_webhook.name
        header = "x-hub-signature-256"
        prefix = "sha256="
      }
    }
    mine     = "$${{ has(body.comment) && body.comment.body.contains(\"<!-- signalbox -->\") }}"
    delivery = "$${{ headers[\"x-github-delivery\"] }}"
    events = [
      {
        when = "$${{ headers[\"x-github-event\"] == \"issues\" && (body.action == \"labeled\" && body.label.name == \"agent\" || body.action == \"opened\" && body.issue.labels.exists(label, label.name == \"agent\")) }}"
        raise = {
          opens = {
            line        = "fix"
            title       = "$${{ body.issue.title }}"
            description = "$${{ (has(body.issue.body) && body.issue.body != null ? body.issue.body + \"\\n\\n\" : \"\") + body.issue.html_url }}"
          }
          marks = {
            ticket = {
              value = "$${{ body.issue.url }}"
            }
          }
        }
      },
      {
        when = "$${{ headers[\"x-github-event\"] == \"issue_comment\" && body.action == \"created\" && !has(body.issue.pull_request) }}"
        raise = {
          say = "$${{ body.comment.user.login + \" commented on the issue:\\n\\n\" + body.comment.body }}"
          marks = {
            ticket = {
              value = "$${{ body.issue.url }}"
            }
          }
        }
      },
      {
        when = "$${{ headers[\"x-github-event\"] == \"issues\" && body.action in [\"closed\", \"reopened\"] }}"
        raise = {
          say = "$${{ body.sender.login + \" has \" + body.action + \" the issue.\" }}"
          marks = {
            ticket = {
              value = "$${{ body.issue.url }}"
            }
          }
        }
      },
    ]
  }
  actions = {
    ask = {
      request = {
        url = "$${{ target.issue + \"/comments\" }}"
        headers = {
          accept               = "application/vnd.github+json"
          x-github-api-version = "2022-11-28"
        }
        body = {
          body = "$${{ (ask.body.contains(ask.link) ? ask.body : ask.body + \"\\n\\n\" + ask.link) + \"\\n\\n<!-- signalbox -->\" }}"
        }
        expect = {
          success = "$${{ status == 201 }}"
        }
      }
    }
    close = {
      request = {
        method = "PATCH"
        url    = "$${{ task.marks.ticket }}"
        headers = {
          accept               = "application/vnd.github+json"
          x-github-api-version = "2022-11-28"
        }
        body = {
          state        = "closed"
          state_reason = "$${{ inputs.reason }}"
        }
        expect = {
          success = "$${{ status == 200 }}"
        }
      }
    }
    comment = {
      request = {
        url = "$${{ task.marks.ticket + \"/comments\" }}"
        headers = {
          accept               = "application/vnd.github+json"
          x-github-api-version = "2022-11-28"
        }
        body = {
          body = "$${{ inputs.body + \"\\n\\n<!-- signalbox -->\" }}"
        }
        expect = {
          success = "$${{ status == 201 }}"
        }
      }
    }
    read = {
      request = {
        method = "GET"
        url    = "$${{ task.marks.ticket }}"
        headers = {
          accept               = "application/vnd.github+json"
          x-github-api-version = "2022-11-28"
        }
        expect = {
          success = "$${{ status == 200 }}"
        }
      }
    }
    read-comments = {
      request = {
        method = "GET"
        url    = "$${{ task.marks.ticket + \"/comments\" }}"
        query = {
          per_page = "100"
        }
        headers = {
          accept               = "application/vnd.github+json"
          x-github-api-version = "2022-11-28"
        }
        expect = {
          success = "$${{ status == 200 }}"
        }
      }
    }
    report = {
      request = {
        url = "$${{ target.issue + \"/comments\" }}"
        headers = {
          accept               = "application/vnd.github+json"
          x-github-api-version = "2022-11-28"
        }
        body = {
          body = "$${{ target.text + \"\\n\\n<!-- signalbox -->\" }}"
        }
        expect = {
          success = "$${{ status == 201 }}"
        }
      }
    }
  }
  tools = {
    close_issue = {
      description = "Closes the issue of this task. A person approves each call."
      action      = "close"
      inputs = {
        reason = {
          description = "completed or not_planned."
          default     = "completed"
        }
      }
      output   = "$${{ {\"state\": response.state} }}"
      approval = true
    }
    comment = {
      description = "Comments on the issue of this task. Everyone who can read the repository can read it."
      action      = "comment"
      inputs = {
        body = {
          description = "The comment, as Markdown."
          required    = true
        }
      }
      output = "$${{ {\"url\": response.html_url} }}"
    }
    read_comments = {
      description = "Reads the first hundred comments on the issue of this task, the oldest first."
      action      = "read-comments"
      output      = "$${{ response.map(comment, {\"by\": comment.user.login, \"at\": comment.created_at, \"body\": comment.body}) }}"
    }
    read_issue = {
      description = "Reads the issue of this task: its text, its state, its labels."
      action      = "read"
      output      = "$${{ {\"title\": response.title, \"body\": response.body, \"state\": response.state, \"url\": response.html_url, \"labels\": response.labels.map(label, label.name)} }}"
    }
  }
  connection = {
    token = {
      secret = service_secret.issues_token.name
    }
  }
  on = [
    {
      event  = "task.opened"
      action = "report"
      to = {
        issue = "$${{ task.marks.ticket }}"
        text  = "$${{ \"An agent has begun to work on this.\" }}"
      }
    },
    {
      event  = "task.asked"
      action = "ask"
      to = {
        issue = "$${{ task.marks.ticket }}"
      }
    },
    {
      event  = "task.finished"
      action = "report"
      to = {
        issue = "$${{ task.marks.ticket }}"
        text  = "$${{ \"The work on this is done.\" }}"
      }
    },
  ]
}
