variable "repository" {
  description = "URL of the store: file:///ABSOLUTE/PATH, or s3://BUCKET/PREFIX?region=REGION."
  type        = string
}

variable "environment" {
  description = "Name of the environment."
  type        = string
  default     = "prod"
}

variable "channel" {
  description = "Channel whose revisions the environment follows."
  type        = string
  default     = "stable"
}

variable "agent" {
  description = "Name of the agent."
  type        = string
  default     = "agent-1"
}

variable "approvers" {
  description = "Public SSH keys of the people on call, as in authorized_keys."
  type        = set(string)
}

variable "directory" {
  description = "Folder of the agent: its configuration, join token and data."
  type        = string
  default     = "/etc/towline"
}

variable "poll_interval" {
  description = "Time between two rounds."
  type        = string
  default     = "1m"
}

variable "grace" {
  description = "How long a change made by hand stands before it is corrected."
  type        = string
  default     = "10m"
}

variable "max_deletes" {
  description = "Most deletions in one round; a plan with more is refused as a whole."
  type        = number
  default     = 5
}

variable "slack_webhook_file" {
  description = "File with the URL of an incoming webhook for reports of drift."
  type        = string
  default     = null
}

variable "force_destroy" {
  description = "Whether destroying takes published revisions, states and receipts along."
  type        = bool
  default     = false
}
