terraform { language = TF2022 }
