// Package hitchpost holds the product's words: sessions, their states and what may follow what, actors and their
// roles, the requests people make and the kinds of error they meet.
//
// It is pure: no I/O, no clock, no globals that change. Every other package imports it; it imports none of ours.
package hitchpost
