resource "aws_sns_topic" "t" {
  name = "parity-forgotten"
}
