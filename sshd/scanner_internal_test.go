package sshd

import (
	"bytes"
	"strings"
	"testing"
)

// feed gives pieces to a scanner and returns what it let through and what it left behind the key. A piece that is
// flushAfter stands for a pause.
const flushAfter = "(pause)"

func feed(s *scanner, pieces ...string) (through, behind string, found bool) {
	var out bytes.Buffer
	emit := func(p []byte) { out.Write(p) }
	for i, p := range pieces {
		if p == flushAfter {
			s.flush(emit)
			continue
		}
		n, key := s.scan([]byte(p), emit)
		if key {
			rest := strings.ReplaceAll(strings.Join(pieces[i+1:], ""), flushAfter, "")
			return out.String(), p[n:] + rest, true
		}
		if n != len(p) {
			return out.String(), "not done with " + p[n:], false
		}
	}
	s.flush(emit)
	return out.String(), "", false
}

func TestDetachKeyIsFound(t *testing.T) {
	t.Parallel()
	for key, forms := range map[string][]string{
		"C-]": {
			"\x1d", "\x1b\x1d", "\x1b[93;5u", "\x1b[93;69u", "\x1b[93;133u", "\x1b[93;197u", "\x1b[93;5:1u",
			"\x1b[93;5:2u", "\x1b[93:125;5u", "\x1b[1098::93;5u", "\x1b[93;5;93u", "\x1b[27;5;93~",
		},
		"C-a": {"\x01", "\x1b[97;5u", "\x1b[27;5;97~", "\x1b[27;5;65~"},
		"^\\": {"\x1c", "\x1b[92;5u"},
		"C-@": {"\x00", "\x1b[64;5u"},
	} {
		detach, err := ParseDetachKey(key)
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range forms {
			whole := "before\x1b[A" + form + "behind\x1d"
			for cut := range len(whole) + 1 {
				for _, pause := range []string{"", flushAfter} {
					s := &scanner{key: detach}
					through, behind, found := feed(s, whole[:cut], pause, whole[cut:])
					inside := cut > len("before\x1b[A") && cut < len("before\x1b[A"+form)
					clean := through == "before\x1b[A" || inside && pause != ""
					if !found || behind != "behind\x1d" || !clean {
						t.Errorf("%s as %q, cut at %d: found %v, through %q, behind %q", key, form, cut, found, through, behind)
					}
				}
			}
			s := &scanner{key: detach}
			if through, _, found := feed(s, strings.Split(whole, "")...); !found || through != "before\x1b[A" {
				t.Errorf("%s as %q, byte by byte: found %v, through %q", key, form, found, through)
			}
		}
	}
}

func TestWhatIsNotTheDetachKeyPasses(t *testing.T) {
	t.Parallel()
	for _, typed := range []string{
		"plain text", "\x1b", "\x1b\x1b\x1b", "\x1b]", "\x1b[", "\x1b[9", "\x1b[A\x1b[1;5A", "\x1b[93;6u", "\x1b[93;1u",
		"\x1b[93u", "\x1b[93;5:3u", "\x1b[94;5u", "\x1b[27;6;93~", "\x1b[27;5;94~", "\x1b[27~", "\x1b[<64;10;10M",
		"\x1b[M !!", "\x1b[?62;4c", "\x1b[" + strings.Repeat("9;", 40) + "5u", "\x1b[93;5\x1b[A", "é日本🙂",
		"\x1b[200~pasted \x1d and \x1b[93;5u and \x1b[27;5;93~\x1b[201~", "\x1b[200~an end that never comes \x1d",
		"\x1b[200~\x1b\x1d\x1b[201~", "\x1b[200~\x1b[200~\x1d\x1b[201~",
	} {
		for cut := range len(typed) + 1 {
			for _, pause := range []string{"", flushAfter} {
				through, _, found := feed(&scanner{}, typed[:cut], pause, typed[cut:])
				if found || through != typed {
					t.Errorf("%q cut at %d: found %v, through %q", typed, cut, found, through)
				}
			}
		}
		if through, _, found := feed(&scanner{}, strings.Split(typed, "")...); found || through != typed {
			t.Errorf("%q in pieces: found %v, through %q", typed, found, through)
		}
	}
}

func TestTheKeyWorksAgainAfterAPaste(t *testing.T) {
	t.Parallel()
	whole := "\x1b[200~\x1d\x1b[201~x\x1dy"
	for cut := range len(whole) + 1 {
		for _, pause := range []string{"", flushAfter} {
			through, behind, found := feed(&scanner{}, whole[:cut], pause, whole[cut:])
			if !found || behind != "y" || through != "\x1b[200~\x1d\x1b[201~x" {
				t.Errorf("cut at %d: found %v, through %q, behind %q", cut, found, through, behind)
			}
		}
	}
}

func TestNothingIsHeldBackButTheStartOfASequence(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]bool{
		"a": false, "\x1b": true, "\x1b[": true, "\x1b[93;5": true, "\x1b[A": false, "\x1bO": false, "\x1b[<": false,
		"\x1b[200~\x1b": false, "\x1b[200~\x1b[20": false,
	} {
		s := &scanner{}
		s.scan([]byte(typed), func([]byte) {})
		if got := s.held() > 0; got != want {
			t.Errorf("%q is held back: %v", typed, got)
		}
	}
}

func TestDetachKeys(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"C-]": "C-]", "c-a": "C-a", "C-A": "C-a", "^]": "C-]", "^_": "C-_", "C-@": "C-@",
		"": "", "]": "", "C-": "", "C-m": "", "C-I": "", "C-[": "", "^h": "", "C-1": "", "M-a": "", "C-ab": "", "C-é": "",
	} {
		k, err := ParseDetachKey(text)
		if (err == nil) != (want != "") || err == nil && k.String() != want {
			t.Errorf("%q: %v, %v", text, k, err)
		}
	}
	if (DetachKey{}).String() != "C-]" {
		t.Error("the zero value is not Ctrl-]")
	}
}

func FuzzScannerLosesNothing(f *testing.F) {
	f.Add([]byte("a\x1b[93;5ub\x1b[200~\x1d\x1b[201~"), uint8(3))
	f.Fuzz(func(t *testing.T, typed []byte, step uint8) {
		var out []byte
		emit := func(p []byte) { out = append(out, p...) }
		s := &scanner{}
		size := int(step)%7 + 1
		for at := 0; at < len(typed); {
			piece := typed[at:min(at+size, len(typed))]
			n, found := s.scan(piece, emit)
			at += n
			if found {
				if !bytes.HasPrefix(typed, out) {
					t.Fatalf("%q became %q", typed, out)
				}
				return
			}
		}
		s.flush(emit)
		if !bytes.Equal(out, typed) {
			t.Fatalf("%q became %q", typed, out)
		}
	})
}
