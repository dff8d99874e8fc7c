resource "aws_dynamodb_table" "t" {
  name         = "parity-table"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "id"
  attribute {
    name = "id"
    type = "S"
  }
  attribute {
    name = "other"
    type = "N"
  }
  global_secondary_index {
    name            = "by-other"
    hash_key        = "other"
    projection_type = "ALL"
  }
  timeouts {
    create = "5m"
  }
}
