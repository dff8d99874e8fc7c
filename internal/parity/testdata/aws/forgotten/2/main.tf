removed {
  from = aws_sns_topic.t
  lifecycle {
    destroy = false
  }
}
