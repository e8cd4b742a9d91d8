// Package sshd lets people in: the SSH front door, the session channel, and the stages a session goes through (picker,
// attach, command mode).
//
// It promises that only the key that signed decides who somebody is, that one person's fault (a panic, a terminal that
// never reads, ten thousand requests) harms no other, that every end the server decides resets the terminal and says
// why, and that no key typed is lost or read twice where one stage hands over to the next.
//
// The front door is gliderlabs/ssh, one value of it for each connection so that nothing is shared between connections.
// Its stock session is not used: it rewrites line ends and blocks on window changes. Our own handler for the channel
// type "session" works on the raw channel of golang.org/x/crypto/ssh, and its session value satisfies the Session
// interface of charm.land/ssh, so that wish middleware composes around it.
//
// It imports the root package, menu and command, and is imported by cmd. What its stages need from the service it
// declares itself (see Service); the picker and command mode are functions of Config, so that each can be had without
// the other.
package sshd
