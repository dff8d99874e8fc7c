memory = 256
vars = { A = "2", B = "x" }
