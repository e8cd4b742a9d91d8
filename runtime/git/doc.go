// Package git tells what is checked out in a directory.
//
// A repository is somebody else's: what it says may be hostile. Names come back clean and short, reads are bounded and
// touch regular files only, and git itself is run only where its files cannot tell, without anything of the
// repository's own being run.
//
// It imports none of ours; package runtime imports it.
package git
