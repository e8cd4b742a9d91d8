package main

import (
	"net"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost/store/storetest"
)

// TestRow02NetworkDrop loses packets between a client and the server, with both ends open and unaware: in a network of
// namespaces where this machine lets one be made, and in any case in a proxy that swallows what it is given.
func TestRow02NetworkDrop(t *testing.T) {
	t.Parallel()
	t.Run("swallowing proxy", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		networkDrop(t, s, newSwallower(t, s.addr))
	})
	t.Run("namespaces", func(t *testing.T) {
		t.Parallel()
		n, err := newNamespaces(t)
		if err != nil {
			t.Logf("no network namespaces here (%v): the drop was tried with the proxy alone", err)
			return
		}
		s := prepare(t, "--database-url", storetest.URL(t))
		s.listenAt(net.JoinHostPort(n.server(), portOf(t, s.addr)))
		s.up()
		networkDrop(t, s, n)
	})
}

// network is what lies between a client and the server.
type network interface {
	client(addr string) (prefix []string, dial string) // how a client is run, and where it finds the server at addr
	cut()                                              // from now on everything is lost, and nobody is told
	mend()                                             // new connections work again
}

func networkDrop(t *testing.T, s *stack, n network) {
	t.Helper()
	s.counter("job")
	desk := s.open(100, 30, "attach", "job")
	desk.sees("row 500")
	prefix, addr := n.client(s.addr)
	phone := s.openScript(40, 20, nil, connectScript, append(append(prefix, built, "connect"),
		(&stack{dir: s.dir, addr: addr}).sshArgs("-o", "ServerAliveInterval=5", "job")...)...)
	phone.sees("row 500")
	eventually(t, "the size is the phone's", func() bool { return s.sizeOf("job") == "40x20" }, func() string { return s.sizeOf("job") })

	n.cut()
	cut := time.Now()
	within(t, 47*time.Second, "the dead client is freed", func() bool { return s.show("job").Attached == 1 }, phone.screen)
	t.Logf("freed after %v", time.Since(cut))
	within(t, 2*time.Second, "the size is the desk's again", func() bool { return s.sizeOf("job") == "100x30" },
		func() string { return s.sizeOf("job") })
	desk.line("alive")
	desk.sees("row 501 alive")
	phone.sees("reconnecting")
	phone.line("typed blind")

	n.mend()
	within(t, 60*time.Second, "the phone is back by itself", func() bool { return s.show("job").Attached == 2 }, phone.screen)
	phone.sees("row 501 alive")
	wholeHistory(t, phone.all(), 501)
	phone.line("back")
	desk.sees("row 502 back")
	phone.sees("row 502 back")
	phone.keys("C-]")
	phone.leaves(0)
}

// sizeOf is the size of a session's window as tmux has it.
func (s *stack) sizeOf(ref string) string {
	s.t.Helper()
	out, err := s.tmux("display-message", "-p", "-t", "=hp-"+s.idOf(ref)+":", "#{window_width}x#{window_height}")
	must(s.t, err)
	return out
}

// listenAt has serve listen elsewhere.
func (s *stack) listenAt(addr string) {
	for i, f := range s.flags {
		if f == s.addr {
			s.flags[i] = addr
		}
	}
	s.addr = addr
}

func portOf(t *testing.T, addr string) string {
	t.Helper()
	_, port, err := net.SplitHostPort(addr)
	must(t, err)
	return port
}

// namespaces is a client's network and a router's beside this one. The router loses packets by no longer routing:
// all links stay up, and no end is told.
type namespaces struct {
	t           *testing.T
	phone, hop  string // names of the namespaces
	subnet      [4]string
	forwardFile string
}

// newNamespaces makes the network; the error tells why it cannot be had. The addresses are of 198.18.0.0/15, which is
// for tests between networks (RFC 2544).
func newNamespaces(t *testing.T) (*namespaces, error) {
	t.Helper()
	ip, err := exec.LookPath("ip")
	if err != nil {
		return nil, err
	}
	port := portOf(t, freeAddress(t)) // a number that no other test has now
	number, err := strconv.Atoi(port)
	must(t, err)
	n := &namespaces{t: t, phone: "hp-phone-" + port, hop: "hp-hop-" + port, forwardFile: "/proc/sys/net/ipv4/ip_forward"}
	for i := range n.subnet { // two networks of four addresses
		n.subnet[i] = "198." + strconv.Itoa(18+number>>15) + "." + strconv.Itoa(number>>7&0xff) + "." + strconv.Itoa(number<<1&0xf8+[4]int{1, 2, 5, 6}[i])
	}
	if out, err := exec.Command(ip, "netns", "add", n.hop).CombinedOutput(); err != nil {
		return nil, &exec.Error{Name: strings.TrimSpace(string(out)), Err: err}
	}
	t.Cleanup(func() { n.run("ip", "netns", "del", n.hop) })
	n.run("ip", "netns", "add", n.phone)
	t.Cleanup(func() { n.run("ip", "netns", "del", n.phone) })
	here := "hp" + port
	n.run("ip", "link", "add", here, "type", "veth", "peer", "name", "near", "netns", n.hop)
	n.run("ip", "-n", n.hop, "link", "add", "far", "type", "veth", "peer", "name", "air", "netns", n.phone)
	for _, end := range []struct{ space, link, addr string }{
		{"", here, n.subnet[0]}, {n.hop, "near", n.subnet[1]}, {n.hop, "far", n.subnet[2]}, {n.phone, "air", n.subnet[3]},
	} {
		in := []string{"ip"}
		if end.space != "" {
			in = []string{"ip", "-n", end.space}
		}
		n.run(append(in[:len(in):len(in)], "addr", "add", end.addr+"/30", "dev", end.link)...)
		n.run(append(in[:len(in):len(in)], "link", "set", "dev", end.link, "up")...)
	}
	n.run("ip", "-n", n.phone, "route", "add", "default", "via", n.subnet[2])
	n.run("ip", "route", "add", n.subnet[3]+"/32", "via", n.subnet[1])
	n.mend()
	return n, nil
}

func (n *namespaces) run(words ...string) {
	n.t.Helper()
	if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
		n.t.Fatalf("%v: %v\n%s", words, err, out)
	}
}

func (n *namespaces) server() string { return n.subnet[0] }

func (n *namespaces) client(addr string) ([]string, string) {
	return []string{"ip", "netns", "exec", n.phone}, addr
}

func (n *namespaces) cut()  { n.forward("0") }
func (n *namespaces) mend() { n.forward("1") }

func (n *namespaces) forward(on string) {
	n.t.Helper()
	n.run("ip", "netns", "exec", n.hop, "sh", "-c", `echo "$1" > "$2"`, "sh", on, n.forwardFile)
}
