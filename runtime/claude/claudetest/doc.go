// Package claudetest gives tests what Claude Code needs to run without an account and without the network: a fake of the
// Messages API (API), a home of its own (Home), the real program where it is installed (Real), and a light stand-in for
// it (Build). Only tests may import it.
//
// The stand-in does what the real program was seen to do, silence included: the tests of this package hold both to the
// same account of hooks, states and exit codes, the real one under the build tag realclaude (`make test-claude`).
package claudetest
