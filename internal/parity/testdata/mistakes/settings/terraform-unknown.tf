terraform { foo = 1 }
