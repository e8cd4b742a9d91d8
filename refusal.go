package hitchpost

// Refusal tells of a client that was not let in. What the client chose is in it as it came: nobody knows who it is.
type Refusal struct {
	Remote       string   // IP address of the client
	Network      string   // what its tries are counted by: the address, or the network of one that has as many as it likes
	Login        string   // user name that the client gave
	Actor        string   // whose key it was, where the key has signed and is no longer good
	Fingerprints []string // of the first few keys that it tried
	Keys         int      // how many keys it tried
	Reason       string   // for people
}
