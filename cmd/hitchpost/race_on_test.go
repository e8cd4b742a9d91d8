//go:build race

package main

// raceEnabled makes the binary under test look for races too.
const raceEnabled = true
