package git

// Ask has git tell what is checked out, for the tests.
var Ask = ask
