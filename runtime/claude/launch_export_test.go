package claude

// Takes says what the table of flags holds: how many values claude's flag takes, and whether it is there.
func Takes(name string) (string, bool) {
	if long, ok := short[name]; ok {
		name = long
	}
	f, ok := flags[name]
	return map[takes]string{none: "none", one: "one", optional: "optional", many: "many"}[f.takes], ok
}

// IsCommand is what a first word is held against.
var IsCommand = isCommand
