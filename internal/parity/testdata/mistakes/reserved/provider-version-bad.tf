provider "test" { version = "foo" }
