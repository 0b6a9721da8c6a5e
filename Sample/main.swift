import LarderSQLite
print("x")
