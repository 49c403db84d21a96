print("yardmaster")
