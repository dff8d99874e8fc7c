list = ["a"]
any = { k = 1 }
