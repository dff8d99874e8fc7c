terraform { experiments = [foo] }
