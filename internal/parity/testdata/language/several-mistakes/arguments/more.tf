module "without" {
  source = "./m"
  lisst  = []
}
