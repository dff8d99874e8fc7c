resource "terraform_data" "a" {
  input = "{\"a\": [1,3,4], \"b\":\"x\", \"c\": null}"
}
