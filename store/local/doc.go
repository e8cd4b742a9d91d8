// Package local runs the private PostgreSQL cluster that Hitchpost keeps when it is given no database URL.
//
// What it promises:
//
//   - The cluster uses the machine's own PostgreSQL, listens on a Unix socket in a directory of mode 0700 and on no TCP
//     port, and lets in nobody but the account that Hitchpost runs as, by peer authentication.
//   - The server is a process of its own that outlives a killed Hitchpost. The next Start finds and uses it. There are
//     never two servers on one cluster, and the lock of a living server is never touched.
//   - Several processes may use one cluster at once; the last one that stops it ends the server.
//   - Started as root, the server runs as the unprivileged account postgres, or nobody, and files that root writes lie
//     where that account cannot change them.
//
// It imports the root package alone; cmd, and packages of tests, may import it.
package local
