variable "workspace_id" {
  type        = string
  description = "The workspace."
}

variable "team_id" {
  type        = string
  description = "The team that has the integration."
}

variable "chat_token" {
  type        = string
  description = "The app's bot token."
  sensitive   = true
}

variable "chat_signing" {
  type        = string
  description = "What deliveries are signed with."
  sensitive   = true
}

resource "service_secret" "chat_token" {
  workspace_id     = var.workspace_id
  name             = "chat-token"
  value_wo         = var.chat_token
  value_wo_version = 1
  hosts            = ["slack.com", "files.slack.com"]
}

resource "service_secret" "chat_signing" {
  workspace_id     = var.workspace_id
  name             = "chat-signing"
  value_wo         = var.chat_signing
  value_wo_version = 1
}

resource "service_integration" "chat" {
  team_id     = var.team_id
  integration = "chat"
  name        = "Chat"
  hosts       = ["slack.com", "files.slack.com"]
  webhook = {
    verify = {
      hmac = {
        secret = service_secret.chat_signing.name
        header = "x-slack-signature"
        prefix = "v0="
        signed = "$${{ \"v0:\" + headers[\"x-slack-request-timestamp\"] + \":\" + raw }}"
        freshness = {
          at             = "$${{ headers[\"x-slack-request-timestamp\"] }}"
          within_seconds = 300
        }
      }
    }
    respond = {
      when = "$${{ body.type == \"url_verification\" }}"
      body = "$${{ {\"challenge\": body.challenge} }}"
    }
    mine = "$${{ has(body.event.bot_profile) && body.event.bot_profile.app_id == body.api_app_id }}"
    route = {
      by = "$${{ body.event.channel }}"
      to = {
        C0123456789 = {
          line    = "fix"
          channel = "C0123456789"
        }
      }
    }
    delivery = "$${{ body.event_id }}"
    events = [
      {
        when = "$${{ body.event.type == \"app_mention\" }}"
        raise = {
          say = "$${{ \"<@\" + body.event.user + \"> wrote:\\n\\n\" + body.event.text }}"
          opens = {
            title       = "$${{ body.event.text }}"
            description = "$${{ \"Asked by <@\" + body.event.user + \"> in channel \" + body.event.channel + \":\\n\\n\" + body.event.text }}"
          }
          marks = {
            conversation = {
              value = "$${{ has(body.event.thread_ts) ? body.event.thread_ts : body.event.ts }}"
            }
          }
          attaches = {
            "each" = "$${{ has(body.event.files) ? body.event.files : [] }}"
            name   = "$${{ file.name }}"
            type   = "$${{ file.mimetype }}"
            size   = "$${{ file.size }}"
            fetch = {
              url = "$${{ file.url_private }}"
            }
          }
        }
      },
      {
        when = "$${{ body.event.type == \"message\" && has(body.event.thread_ts) && (!has(body.event.subtype) || body.event.subtype == \"file_share\") && !has(body.event.bot_id) && !body.event.text.contains(\"<@\" + body.authorizations[0].user_id + \">\") }}"
        raise = {
          say = "$${{ \"<@\" + body.event.user + \"> wrote:\\n\\n\" + body.event.text }}"
          marks = {
            conversation = {
              value = "$${{ body.event.thread_ts }}"
            }
          }
          attaches = {
            "each" = "$${{ has(body.event.files) ? body.event.files : [] }}"
            name   = "$${{ file.name }}"
            type   = "$${{ file.mimetype }}"
            size   = "$${{ file.size }}"
            fetch = {
              url = "$${{ file.url_private }}"
            }
          }
        }
      },
    ]
  }
  actions = {
    answer = {
      request = {
        url = "https://slack.com/api/chat.postMessage"
        body = {
          channel   = "$${{ target.channel }}"
          text      = "$${{ target.text }}"
          thread_ts = "$${{ target.thread }}"
        }
        expect = {
          success = "$${{ status == 200 && response.ok }}"
        }
      }
    }
    ask = {
      request = {
        url = "https://slack.com/api/chat.postMessage"
        body = {
          channel   = "$${{ target.channel }}"
          text      = "$${{ ask.body.contains(ask.link) ? ask.body : ask.body + \"\\n\\n\" + ask.link }}"
          thread_ts = "$${{ target.thread }}"
        }
        expect = {
          success = "$${{ status == 200 && response.ok }}"
        }
      }
    }
    post = {
      request = {
        url = "https://slack.com/api/chat.postMessage"
        body = {
          channel = "$${{ inputs.channel }}"
          text    = "$${{ inputs.text }}"
        }
        expect = {
          success = "$${{ status == 200 && response.ok }}"
        }
      }
    }
    read-thread = {
      request = {
        method = "GET"
        url    = "https://slack.com/api/conversations.replies"
        query = {
          channel = "$${{ inputs.channel }}"
          limit   = "100"
          ts      = "$${{ inputs.thread }}"
        }
        expect = {
          success = "$${{ status == 200 && response.ok }}"
        }
      }
    }
  }
  tools = {
    post = {
      description = "Posts a message to a channel. What this task asks and its end are told in its own thread without this. A person approves each call."
      action      = "post"
      inputs = {
        channel = {
          description = "The id of the channel, such as C0123456789."
          required    = true
        }
        text = {
          description = "The message."
          required    = true
        }
      }
      output   = "$${{ {\"ts\": response.ts} }}"
      approval = true
    }
    read_thread = {
      description = "Reads the messages of a thread, the oldest first."
      action      = "read-thread"
      inputs = {
        channel = {
          description = "The id of the channel, such as C0123456789."
          required    = true
        }
        thread = {
          description = "The time stamp of the thread's first message; the thread of this task when it is not given."
          default     = "$${{ task.marks.conversation }}"
        }
      }
      output = "$${{ response.messages.map(message, {\"user\": has(message.user) ? message.user : \"\", \"text\": message.text, \"ts\": message.ts}) }}"
    }
  }
  connection = {
    token = {
      secret = service_secret.chat_token.name
    }
  }
  on = [
    {
      event  = "task.opened"
      action = "answer"
      to = {
        text   = "$${{ \"An agent has begun to work on this.\" }}"
        thread = "$${{ task.marks.conversation }}"
      }
    },
    {
      event  = "task.asked"
      action = "ask"
      to = {
        thread = "$${{ task.marks.conversation }}"
      }
    },
    {
      event  = "task.finished"
      action = "answer"
      to = {
        text   = "$${{ \"The work on this is done.\" }}"
        thread = "$${{ task.marks.conversation }}"
      }
    },
    {
      event  = "task.closed"
      action = "answer"
      to = {
        text   = "$${{ \"This was closed.\" }}"
        thread = "$${{ task.marks.conversation }}"
      }
    },
  ]
}
