// Package git tells what git knows of a directory, keeps checkpoints of working trees, and makes and removes worktrees.
//
// A repository is somebody else's: what it says may be hostile. Reads are bounded and touch regular files only; each
// call of git has a limit of time and of bytes, and nothing of the repository's own is run: no hook, no file system
// monitor, no filter, no pager, no other git in a submodule, no fetch of what is missing. The person's index is never
// written. Find returns names that are clean and short; all else returns the bytes that there are, which are not fit to
// be shown as they are.
//
// What is to be switched off is looked up when a Tree is opened. Somebody who may write the repository's configuration
// could change it right after that; such a one runs as the account that reads it, and needs no git for harm.
//
// It asks git 2.36 or newer. It imports the root package; package runtime imports it.
package git
