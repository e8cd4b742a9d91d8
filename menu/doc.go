// Package menu is the picker: the list a person sees after login, and the few acts that start from it.
//
// It shows what Service.Snapshot holds, follows Service.Watch, and ends with a Choice. It promises three things to
// whoever runs it. It ends completely before Run returns: nothing reads the input afterwards, and every byte behind
// the key that ended it has been given back. It never asks the terminal a question, so no late reply can be typed
// into the session that is attached next. And nothing from a name, title, path, branch or screen reaches the
// terminal unescaped.
//
// A fault in it ends this one picker with an error, as far as its own goroutines go; the renderer's is Bubble Tea's. With
// HITCHPOST_PLAIN=1 the picker draws nothing: it prints a numbered list and reads a line.
//
// The package knows no SSH: sshd imports it. It imports the root package only.
package menu
