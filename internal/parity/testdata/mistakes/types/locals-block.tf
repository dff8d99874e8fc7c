locals {
  foo {}
}
