print("detourd")
