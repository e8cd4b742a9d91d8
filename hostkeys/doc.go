// Package hostkeys makes, loads and fingerprints the keys by which the SSH server proves who it is.
//
// It promises that a key is made once and then stays: a client that has seen a fingerprint sees the same one for ever,
// and a damaged or exposed key stops the start instead of being replaced. Keys lie in OpenSSH's own format, with mode
// 0600 in a directory of mode 0700, and appear there whole or not at all.
//
// It imports nothing of ours; cmd imports it.
package hostkeys
