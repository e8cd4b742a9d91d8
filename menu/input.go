package menu

// Input is where the keys come from. One Input serves a connection for its whole life and is handed from stage to
// stage; the menu is one of the stages.
//
// The menu reads ahead by at most one Read, and hands back what it did not use before Run returns. In the order of
// calls that Run makes: Read any number of times from one goroutine; then, once, Interrupt; the blocked Read returns;
// then at most one Unread with everything that was read and not used, in the order in which it was typed. Not one
// byte behind the key that ended the menu is used, decoded or dropped.
type Input interface {
	// Read blocks until there is at least one byte or the input has ended. It may return what was there before an
	// Interrupt together with or instead of io.EOF. An error or io.EOF without an Interrupt means that the person is
	// gone, and ends the menu.
	Read(p []byte) (int, error)

	// Interrupt makes the Read that blocks now, and each later one, return io.EOF at once, until the owner opens the
	// next stage. It takes no byte, does not block, and may be called from any goroutine.
	Interrupt()

	// Unread puts p in front of what the next stage reads. The Input keeps no reference to p.
	Unread(p []byte)
}
