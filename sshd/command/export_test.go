package command

// Width is the number of cells that a text takes, for the tests.
var Width = width
