package host

// ParentIn is parentIn, for lines that no test can make the kernel write.
func ParentIn(stat []byte) (int32, bool) { return parentIn(stat) }
