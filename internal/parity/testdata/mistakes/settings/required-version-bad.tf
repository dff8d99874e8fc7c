terraform { required_version = "foo" }
