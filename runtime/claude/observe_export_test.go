package claude

// ParseEntry is an entry's content, for a process that began at start.
func ParseEntry(data []byte, pid int, start uint64) (Entry, error) {
	return parseEntry(data, pid, processLook{start: start})
}
