package sshd

// TerminalReset brings a terminal back to what a shell expects, whatever the programs in a session have switched on.
// It is sent before the line that says why an attach ended. It erases nothing. Every sequence is one that terminals
// ignore where they do not know it, or where what it ends was never begun.
const TerminalReset = "" +
	"\x1b\\" + // the end of a string sequence that was cut in the middle
	"\x1b[?2026l" + // show what was held back (synchronized updates)
	"\x1b[?1049l" + // the main screen
	"\x1b[r" + // scroll the whole screen
	"\x1b[m" + // no colours or attributes
	"\x0f\x1b(B" + // no line-drawing characters
	"\x1b[?1l\x1b>" + // cursor keys and keypad send what they normally send
	"\x1b[?7h" + // wrap long lines
	"\x1b[4l" + // type over, not in between
	"\x1b[?6l" + // rows count from the top of the screen
	"\x1b[?5l" + // not inverted
	"\x1b[?25h" + // the cursor is seen
	"\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1005l\x1b[?1006l\x1b[?1015l\x1b[?1016l" + // no mouse reports
	"\x1b[?2004l" + // no brackets around what is pasted
	"\x1b[?1004l" + // no reports of focus
	"\x1b[?7727l" + // Escape as it always was (application escape mode, which tmux switches on)
	"\x1b[?2031l" + // no reports of the colour scheme
	"\x1b[<u\x1b[=0u" + // no kitty keyboard protocol, neither pushed nor set
	"\x1b[>4m" + // no modifyOtherKeys
	"\x1b[0 q" + // the cursor's own shape
	"\x1b]104\x1b\\" + // the palette
	"\x1b]110\x1b\\" + // the foreground
	"\x1b]111\x1b\\" + // the background
	"\x1b]112\x1b\\" + // the cursor's colour
	"\x1b]2;\x1b\\" + // no title
	"\x1b[999;1H\r\n" // below all that is on the screen
