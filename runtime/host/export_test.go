package host

// AgentIn is agentIn, for the table of command lines.
func AgentIn(words ...string) string { return agentIn(words) }
