package git

// CopyFile is what happens to a file that cannot be linked.
func CopyFile(from, to string) error { return copyFile(from, to) }
