removed {
  from = terraform_data.s
  lifecycle {
    destroy = false
  }
}
