// Command fakeclaude stands in for Claude Code in tests that are not about Claude Code itself: it starts in milliseconds,
// needs no API and answers by the prompt. package claudetest builds it.
//
// Seen from outside it does what the real program (2.1.332) does: its words and exit codes, the hooks it runs and those it
// does not, its entry in sessions/, its transcript, its keys. What chooses an answer is the prompt's first line:
//
//	@say TEXT         TEXT
//	@lines N          N lines
//	@slow N           N lines, one each 100 ms
//	@hang             nothing, until Esc
//	@status CODE      the turn fails as with that answer of the API
//	@recall           every prompt of the conversation
//	@tool NAME JSON   a call of the tool; Bash really runs its command, in the background where the input asks for that
//	@ask QUESTION     a question of the tool AskUserQuestion
//	!COMMAND          the command, without a prompt hook
//	/clear /resume ID /branch /compact /rename TITLE /model /exit
//
// Any other text is echoed. A tool asks for permission as the permission mode has it: in auto, which the real program is in
// without a flag, Bash does not; in default every command does, where the real one lets harmless ones pass. In a dialog,
// 1 or Enter is yes, any other digit no, and Esc interrupts.
//
// The version it tells is in the file claude.version beside it, if there is one. Three things are less strict than in the
// real program: where .claude.json is missing nothing is asked, a dialog takes keys from its first moment on, and --print is
// not there. A first start in a directory that .claude.json does not trust asks, as the real one does.
package main
