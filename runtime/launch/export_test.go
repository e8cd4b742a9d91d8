package launch

// ReadSpec is what a wrapper reads, for the tests.
var ReadSpec = readSpec
