package sshd

import (
	"net"

	"golang.org/x/sys/unix"
)

// acknowledge makes the kernel acknowledge what it has received at once. The option is not permanent (tcp(7),
// TCP_QUICKACK): it must be set again after each read.
func acknowledge(c net.Conn) {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_QUICKACK, 1)
	})
}

// transmission tells how many bytes the client's kernel has taken so far, and whether more are on their way. The last
// value is false where that cannot be known.
func transmission(c net.Conn) (taken uint64, more, known bool) {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return 0, false, false
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return 0, false, false
	}
	var info *unix.TCPInfo
	cerr := raw.Control(func(fd uintptr) {
		info, err = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
	})
	if cerr != nil || err != nil {
		return 0, false, false
	}
	return info.Bytes_acked, info.Unacked > 0 || info.Notsent_bytes > 0, true
}
