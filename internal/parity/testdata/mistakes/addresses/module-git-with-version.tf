module "a_7" {
 source = "git::https://example.com/foo.git"
 version = "1.0"
 }
