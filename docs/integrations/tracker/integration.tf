variable "workspace_id" {
  type        = string
  description = "The workspace."
}

variable "team_id" {
  type        = string
  description = "The team that has the integration."
}

variable "tracker_key" {
  type        = string
  description = "The API key of the member that writes."
  sensitive   = true
}

variable "tracker_webhook" {
  type        = string
  description = "What deliveries are signed with."
  sensitive   = true
}

resource "service_secret" "tracker_key" {
  workspace_id     = var.workspace_id
  name             = "tracker-key"
  value_wo         = var.tracker_key
  value_wo_version = 1
  hosts            = ["api.linear.app"]
}

resource "service_secret" "tracker_webhook" {
  workspace_id     = var.workspace_id
  name             = "tracker-webhook"
  value_wo         = var.tracker_webhook
  value_wo_version = 1
}

resource "service_integration" "tracker" {
  team_id     = var.team_id
  integration = "tracker"
  name        = "Issue tracker"
  hosts       = ["api.linear.app"]
  webhook = {
    verify = {
      hmac = {
        secret = service_secret.tracker_webhook.name
        header = "linear-signature"
        freshness = {
          at             = "$${{ body.webhookTimestamp }}"
          within_seconds = 300
        }
      }
    }
    accepted = 200
    mine     = "$${{ body.actor.name == \"Signalbox\" }}"
    delivery = "$${{ headers[\"linear-delivery\"] }}"
    events = [
      {
        when = "$${{ body.type == \"Issue\" && (body.action == \"create\" || has(body.updatedFrom.labelIds)) && body.data.labels.exists(label, label.name == \"agent\" && (body.action == \"create\" || !(label.id in body.updatedFrom.labelIds))) }}"
        raise = {
          opens = {
            line        = "fix"
            title       = "$${{ body.data.identifier + \": \" + body.data.title }}"
            description = "$${{ (has(body.data.description) && body.data.description != null ? body.data.description + \"\\n\\n\" : \"\") + body.url }}"
            assign_by = {
              email = "$${{ has(body.data.assignee) && body.data.assignee != null ? body.data.assignee.email : \"\" }}"
            }
          }
          marks = {
            issue = {
              value = "$${{ body.data.id }}"
            }
          }
        }
      },
      {
        when = "$${{ body.type == \"Comment\" && body.action == \"create\" }}"
        raise = {
          say = "$${{ body.actor.name + \" commented on the issue:\\n\\n\" + body.data.body }}"
          marks = {
            issue = {
              value = "$${{ body.data.issueId }}"
            }
          }
        }
      },
      {
        when = "$${{ body.type == \"Issue\" && body.action == \"update\" && has(body.updatedFrom.stateId) }}"
        raise = {
          say = "$${{ body.actor.name + \" moved the issue to \" + body.data.state.name + \".\" }}"
          marks = {
            issue = {
              value = "$${{ body.data.id }}"
            }
          }
        }
      },
    ]
  }
  actions = {
    ask = {
      request = {
        url = "https://api.linear.app/graphql"
        body = {
          query = "mutation Comment($input: CommentCreateInput!) { commentCreate(input: $input) { success comment { id url } } }"
          variables = {
            input = {
              body     = "$${{ ask.body.contains(ask.link) ? ask.body : ask.body + \"\\n\\n\" + ask.link }}"
              issueId  = "$${{ target.issue }}"
              parentId = "$${{ has(task.marks.thread) ? dyn(task.marks.thread) : null }}"
            }
          }
        }
        expect = {
          success = "$${{ status == 200 && response.data.commentCreate.success }}"
        }
      }
    }
    comment = {
      request = {
        url = "https://api.linear.app/graphql"
        body = {
          query = "mutation Comment($input: CommentCreateInput!) { commentCreate(input: $input) { success comment { id url } } }"
          variables = {
            input = {
              body    = "$${{ inputs.body }}"
              issueId = "$${{ task.marks.issue }}"
            }
          }
        }
        expect = {
          success = "$${{ status == 200 && response.data.commentCreate.success }}"
        }
      }
    }
    read = {
      request = {
        url = "https://api.linear.app/graphql"
        body = {
          query = "query Read($id: String!) { issue(id: $id) { id identifier title description url state { id name type } team { states { nodes { id name type } } } comments { nodes { body createdAt user { name } } } } }"
          variables = {
            id = "$${{ inputs.issue }}"
          }
        }
        expect = {
          success = "$${{ status == 200 && !has(response.errors) }}"
        }
      }
    }
    report = {
      request = {
        url = "https://api.linear.app/graphql"
        body = {
          query = "mutation Comment($input: CommentCreateInput!) { commentCreate(input: $input) { success comment { id url } } }"
          variables = {
            input = {
              body     = "$${{ target.text }}"
              issueId  = "$${{ target.issue }}"
              parentId = "$${{ has(task.marks.thread) ? dyn(task.marks.thread) : null }}"
            }
          }
        }
        expect = {
          success = "$${{ status == 200 && response.data.commentCreate.success }}"
        }
        capture = {
          comment = "$${{ response.data.commentCreate.comment.id }}"
        }
      }
    }
    set-state = {
      request = {
        url = "https://api.linear.app/graphql"
        body = {
          query = "mutation Move($id: String!, $input: IssueUpdateInput!) { issueUpdate(id: $id, input: $input) { success issue { state { id name type } } } }"
          variables = {
            id = "$${{ task.marks.issue }}"
            input = {
              stateId = "$${{ inputs.state }}"
            }
          }
        }
        expect = {
          success = "$${{ status == 200 && response.data.issueUpdate.success }}"
        }
      }
    }
  }
  tools = {
    comment = {
      description = "Comments on the issue of this task. Its readers are the people who wrote it."
      action      = "comment"
      inputs = {
        body = {
          description = "The comment, as Markdown."
          required    = true
        }
      }
      output = "$${{ response.data.commentCreate.comment }}"
    }
    read_issue = {
      description = "Reads an issue: its text, its state, its comments, and the states that its team has. Without inputs it reads the issue of this task."
      action      = "read"
      inputs = {
        issue = {
          description = "The issue's id or its number, such as ENG-12."
          default     = "$${{ task.marks.issue }}"
        }
      }
      output = "$${{ response.data.issue }}"
    }
    set_state = {
      description = "Moves the issue of this task to another state of its team. A person approves each call."
      action      = "set-state"
      inputs = {
        state = {
          description = "The id of the state, as read_issue lists them."
          required    = true
        }
      }
      output   = "$${{ response.data.issueUpdate.issue.state }}"
      approval = true
    }
  }
  connection = {
    token = {
      secret = service_secret.tracker_key.name
      header = "authorization"
      prefix = ""
    }
  }
  on = [
    {
      event  = "task.opened"
      action = "report"
      to = {
        issue = "$${{ task.marks.issue }}"
        text  = "$${{ \"An agent has begun to work on this.\" }}"
      }
      mark = {
        thread = {
          value = "$${{ capture.comment }}"
        }
      }
    },
    {
      event  = "task.asked"
      action = "ask"
      to = {
        issue = "$${{ task.marks.issue }}"
      }
    },
    {
      event  = "task.finished"
      action = "report"
      to = {
        issue = "$${{ task.marks.issue }}"
        text  = "$${{ \"The work on this is done.\" }}"
      }
    },
  ]
}
