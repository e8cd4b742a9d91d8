package task

import "path/filepath"

// Names in a task's folder.
const (
	specName    = "spec.json"
	lockName    = "lock"
	placeName   = "place"
	startedName = "started"
	logName     = "log"
	stdinName   = "stdin"
	cancelName  = "cancel"
	fedName     = "fed"
	givenName   = "given"

	// RecordName is the name of the Record in a task's folder. It arrives whole, by a rename, and tells the end.
	RecordName = "exit.json"
)

// in is the path of a name in a task's folder.
func in(folder, name string) string { return filepath.Join(folder, name) }
