package task

import (
	"os"
	"time"
)

const (
	// pieces is how many files the end of a log is kept in: the oldest goes when the newest needs its room.
	pieces = 8
	// smallestPiece bounds how often that is, where a log's limit is small.
	smallestPiece = 4 << 10
	// mostPieces bounds the files of a log on a disk that is full time and again.
	mostPieces = 4 * pieces
	// restTime is how long nothing is tried on a disk that took no more.
	restTime = time.Second
)

// keeper writes a log: the first half of its limit once, and then the last half over and over. It fails never: what the
// disk does not take is left out and counted.
type keeper struct {
	folder string
	half   int64     // of the limit
	total  int64     // bytes given so far, kept or not
	file   *os.File  // the piece at work; nil: the next byte begins one
	now    segment   // the same
	tail   []segment // the pieces behind the first that are done
	retry  time.Time // when the disk is tried again after it took no more
}

// newKeeper carries on with the empty first piece that Create made.
func newKeeper(folder string, limit int64) *keeper {
	return &keeper{folder: folder, half: max(limit/2, 1)}
}

// write takes all of p.
func (k *keeper) write(p []byte) {
	for len(p) > 0 {
		if k.file == nil && !k.begin() {
			k.total += int64(len(p))
			return
		}
		n, err := k.file.Write(p[:min(int64(len(p)), k.room())])
		k.total += int64(n)
		k.now.size += int64(n)
		p = p[n:]
		if err != nil {
			k.retry = time.Now().Add(restTime)
			k.finish()
		} else if k.room() == 0 {
			k.finish()
		}
	}
}

// room is what the piece at work may still take.
func (k *keeper) room() int64 {
	if k.now.start == 0 {
		return k.half - k.now.size
	}
	return k.piece() - k.now.size
}

// piece is the size of a piece of the last half.
func (k *keeper) piece() int64 { return max(k.half/pieces, min(k.half, smallestPiece)) }

// begin opens the next piece, once there is room for all of it.
func (k *keeper) begin() bool {
	if !k.retry.IsZero() && time.Now().Before(k.retry) {
		return false
	}
	k.now = segment{start: k.total}
	if k.total > 0 {
		k.makeRoom()
	}
	file, err := os.OpenFile(in(k.folder, segmentName(k.total)), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		k.retry = time.Now().Add(restTime)
		return false
	}
	k.file, k.retry = file, time.Time{}
	return true
}

// makeRoom removes the oldest pieces behind the first one.
func (k *keeper) makeRoom() {
	var kept int64
	for _, s := range k.tail {
		kept += s.size
	}
	for len(k.tail) > 0 && (kept+k.piece() > k.half || len(k.tail) >= mostPieces) {
		_ = os.Remove(in(k.folder, segmentName(k.tail[0].start))) // it may be gone; the next one is none the worse
		kept -= k.tail[0].size
		k.tail = k.tail[1:]
	}
}

// finish ends the piece at work.
func (k *keeper) finish() {
	_ = k.file.Close()
	k.file = nil
	switch {
	case k.now.start == 0:
	case k.now.size == 0:
		_ = os.Remove(in(k.folder, segmentName(k.now.start)))
	default:
		k.tail = append(k.tail, k.now)
	}
}

// sync makes the piece at work durable, as far as the disk can; the system writes the others by itself before long.
func (k *keeper) sync() error {
	if k.file == nil {
		return nil
	}
	return k.file.Sync()
}
