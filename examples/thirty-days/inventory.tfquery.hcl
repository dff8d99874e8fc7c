# Which configs there are beside the ones above. Where a scope names this as its
# inventory, those that nobody manages are reported. "terraform query" lists them too.
list "simcloud_config" "all" {
  provider         = simcloud
  include_resource = true

  config {
    environment = var.environment
  }
}
