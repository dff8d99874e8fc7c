text = "extra"
number = 8
