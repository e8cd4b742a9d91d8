// Package inside is how a program in a session reaches the service that keeps the session, without a key: a Unix socket that
// only the account can open, and a token in the session's environment that is good for that session alone.
//
// Package runtime serves it; the binary calls it from inside a session. It imports the root package and runtime/durable only.
// What is exchanged is one JSON document a way, bounded in bytes and time.
package inside
