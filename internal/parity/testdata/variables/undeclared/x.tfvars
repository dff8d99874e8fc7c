nope = 1
nope2 = 2
text = "x"
