package hitchpost_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"regexp"
	"strings"
	"testing"
)

// The tree speaks of itself alone: it knows no machine it was checked out on.
func TestTreeKnowsNoMachine(t *testing.T) {
	t.Parallel()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(here, "/") < 2 {
		return // a folder such as /src is named in many a text
	}
	for name, text := range tracked(t) {
		if bytes.Contains(text, []byte(here+"/")) {
			t.Errorf("%s holds the path of this checkout, %s: others have another", name, here)
		}
	}
}

// What a document points at is there, and a test that it names exists.
func TestDocumentsPointAtWhatIsThere(t *testing.T) {
	t.Parallel()
	for name, text := range tracked(t) {
		if path.Ext(name) != ".md" {
			continue
		}
		for _, l := range linksOf(string(text)) {
			target := path.Join(path.Dir(name), l.target)
			if !fs.ValidPath(target) {
				t.Errorf("%s links to %s, outside of the tree", name, l.target)
				continue
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s, which is not there: mend the link or add the file", name, l.target)
				continue
			}
			if !strings.HasPrefix(l.text, "Test") {
				continue
			}
			if code, err := os.ReadFile(target); err != nil || !bytes.Contains(code, []byte("func "+l.text+"(")) {
				t.Errorf("%s says that %s has %s, which is not there: name the test as it is called now", name, l.target, l.text)
			}
		}
	}
}

// Every row of the table of failures that has a test names it.
func TestReadmeNamesTheTestsOfItsRows(t *testing.T) {
	t.Parallel()
	row := regexp.MustCompile(`(?m)^func (TestRow\d\d\w*)\(`)
	files := tracked(t)
	for name, text := range files {
		if !strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, test := range row.FindAllSubmatch(text, -1) {
			if !bytes.Contains(files["README.md"], fmt.Appendf(nil, "[%s](%s)", test[1], name)) {
				t.Errorf("README.md does not name %s of %s: put it into the row's last column", test[1], name)
			}
		}
	}
}

// tracked reads the files that git knows, as they are now, by name.
func tracked(t *testing.T) map[string][]byte {
	t.Helper()
	out, err := exec.Command("git", "ls-files", "-z").Output()
	if err != nil {
		t.Fatalf("git ls-files: %v: this test needs git and a checkout", err)
	}
	files := map[string][]byte{}
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		text, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed, and not yet committed
		}
		if err != nil {
			t.Fatal(err)
		}
		files[name] = text
	}
	return files
}

// link is a Markdown link to a file, without the fragment.
type link struct{ text, target string }

func linksOf(text string) []link {
	var links []link
	parts := strings.Split(text, "](")
	for i, rest := range parts[1:] {
		target, _, ok := strings.Cut(rest, ")")
		target, _, _ = strings.Cut(target, "#")
		if ok && target != "" && !strings.Contains(target, ":") && !strings.ContainsAny(target, " \n") {
			links = append(links, link{parts[i][strings.LastIndexByte(parts[i], '[')+1:], target})
		}
	}
	return links
}
