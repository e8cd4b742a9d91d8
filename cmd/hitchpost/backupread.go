package main

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/hitchpost/hitchpost"
)

// manifestLimit bounds what is read of a manifest: some hundred thousand members.
const manifestLimit = 64 << 20

// readBackup reads the whole backup in f, calls take with each member but the manifest, and returns the manifest. Every
// checksum is verified, but only at the end: until then take has seen what may be false. An error of take comes back as
// it is; what is torn, or no backup, gives FailedError and what a newer program made ConflictError. take may be nil.
func readBackup(ctx context.Context, f *os.File, take func(h *tar.Header, r io.Reader) error) (manifest, error) {
	m, err := scanBackup(ctx, f, take)
	var own takeError
	var told *hitchpost.Error
	switch {
	case err == nil || ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return m, err
	case errors.As(err, &own):
		return m, own.error
	case errors.As(err, &told):
		return m, told
	}
	return m, hitchpost.Errorf(hitchpost.FailedError, "%s is torn or no backup: %w", f.Name(), err).
		Hinted("use another backup; nothing was changed")
}

// takeError marks an error of take.
type takeError struct{ error }

func (e takeError) Unwrap() error { return e.error }

func scanBackup(ctx context.Context, f *os.File, take func(h *tar.Header, r io.Reader) error) (m manifest, err error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return m, err
	}
	raw := bufio.NewReaderSize(f, 1<<16)
	z, err := gzip.NewReader(raw)
	if err != nil {
		return m, err
	}
	z.Multistream(false) // what follows the end is no part of it
	t := tar.NewReader(z)
	found, m, err := members(ctx, t, take)
	if err != nil {
		return m, err
	}
	// The end of the archive lies before the checksum of the whole.
	if _, err := io.Copy(io.Discard, z); err != nil {
		return m, err
	}
	if _, err := raw.ReadByte(); !errors.Is(err, io.EOF) {
		return m, errors.New("something follows its end")
	}
	switch {
	case m.Format == 0:
		return m, errors.New("it has no manifest")
	case m.Format > backupFormat:
		return m, hitchpost.Errorf(hitchpost.ConflictError,
			"%s has format %d, made by hitchpost %s, and this program knows formats up to %d", f.Name(), m.Format, m.Version,
			backupFormat).Hinted("restore it with the hitchpost that made it or a newer one")
	case !slices.Equal(found, m.Members):
		return m, errors.New("its members are not those of its manifest")
	}
	return m, nil
}

// members reads every member, and the manifest, which comes last.
func members(ctx context.Context, t *tar.Reader, take func(h *tar.Header, r io.Reader) error) (
	found []member, m manifest, err error) {
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return found, m, nil
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil, m, err
		}
		if m.Format != 0 {
			return nil, m, errors.New("something follows its manifest")
		}
		if h.Name == manifestMember {
			if err := json.NewDecoder(io.LimitReader(t, manifestLimit)).Decode(&m); err != nil {
				return nil, m, fmt.Errorf("read its manifest: %w", err)
			}
			continue
		}
		sum := sha256.New()
		r := io.TeeReader(t, sum)
		if take != nil && h.Typeflag == tar.TypeReg {
			if err := take(h, r); err != nil {
				return nil, m, takeError{err}
			}
		}
		if _, err := io.Copy(io.Discard, r); err != nil {
			return nil, m, err
		}
		found = append(found, member{h.Name, h.Size, hex.EncodeToString(sum.Sum(nil))})
	}
}
