locals {
  z = local.z
}
