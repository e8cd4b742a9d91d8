// Package preset knows how other agents than Claude Code are started, how they go on with a conversation after an
// interruption, and how they tell that they need a person. What it knows of an agent is data: a JSON file, one of those
// in presets/ that are built in, or one that a person put into the folder presets of the data directory, which adds a
// preset or takes the place of a built-in one of that name. PRESETS.md tells of the format and where each fact comes from.
//
// It promises that nothing is guessed: an agent that tells of one direction alone, such as the end of a turn and never
// the beginning of the next, has no state by it, only a notice. It plans and reads; it starts nothing and never writes,
// least of all into an agent's own configuration. Package runtime and cmd/hitchpost import it.
package preset
