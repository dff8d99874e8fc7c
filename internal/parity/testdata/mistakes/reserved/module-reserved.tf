module "a_4" {
  source = "./m"
  lifecycle {}
  locals {}
  provider "x" {}
  foo {}
}
