resource "aws_dynamodb_table" "t" {
  name         = "parity-table"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "key"
  attribute {
    name = "key"
    type = "S"
  }
  timeouts {
    create = "5m"
  }
}
