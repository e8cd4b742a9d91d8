package sshd

import "sync"

const (
	// smallRead is the buffer that an attached client holds while nothing happens: larger than the echo of a key, so
	// that typing needs no other.
	smallRead = 1 << 10
	// largeRead is the most that travels in one packet (channelMaxPacket of x/crypto, and what OpenSSH takes).
	largeRead = 32 << 10
	// loneRead is how short a read must be for nothing else to be looked for: the echo of a key goes out at once.
	loneRead = 64
)

// largeBuffers are for views with much to say. They are taken only while there is something.
var largeBuffers = sync.Pool{New: func() any { return new([largeRead]byte) }}

// show copies what the view gives to the client until either ends. What is ready at the same time travels in one
// packet, and nothing ever waits for more.
func (a *attachment) show() {
	var small [smallRead]byte
	for {
		n, err := a.view.Read(small[:])
		if n < loneRead {
			if a.write(small[:n]) != nil || err != nil {
				return
			}
			continue
		}
		if err == nil {
			err = a.burst(small[:n])
		} else if n > 0 {
			_ = a.write(small[:n])
		}
		if err != nil {
			return
		}
	}
}

// burst goes on after first with a large buffer for as long as there is much.
func (a *attachment) burst(first []byte) error {
	buf := largeBuffers.Get().(*[largeRead]byte)
	defer largeBuffers.Put(buf)
	n := copy(buf[:], first)
	for n > 0 {
		m, err := a.view.ReadReady(buf[n:])
		n += m
		if err != nil || m == 0 || n == len(buf) {
			if werr := a.write(buf[:n]); werr != nil {
				return werr
			}
			if err != nil {
				return err
			}
			if m == 0 {
				return nil
			}
			if n, err = a.view.ReadReady(buf[:]); err != nil {
				_ = a.write(buf[:n])
				return err
			}
		}
	}
	return nil
}

// write sends p to the client, under the watch for a client that takes nothing.
func (a *attachment) write(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	a.stall.begin()
	_, err := a.s.out.Write(p)
	a.stall.end()
	return err
}
