package hitchpost_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/hitchpost/hitchpost"

// mayImport lists, for each folder, which of our folders its code may import; "." is the root. A folder that is not
// here fails the test until somebody decides. Tests may import more: what they use beside the code under test says
// nothing about the way it is built.
func mayImport() map[string][]string {
	return map[string][]string{
		".":           {},
		"migrations":  {},
		"hostkeys":    {},
		"store":       {".", "migrations"},
		"store/local": {".", "migrations"},
		"runtime": {".", "store", "runtime/tmux", "runtime/pty", "runtime/launch", "runtime/task", "runtime/git",
			"runtime/host", "runtime/preset", "runtime/durable", "runtime/claude", "runtime/inside"},
		"runtime/tmux":                         {".", "runtime/pty"},
		"runtime/pty":                          {"."},
		"runtime/launch":                       {".", "runtime/durable"},
		"runtime/durable":                      {},
		"runtime/inside":                       {".", "runtime/durable"},
		"runtime/task":                         {".", "runtime/launch", "runtime/durable"},
		"runtime/claude":                       {".", "runtime/durable"},
		"runtime/git":                          {"."},
		"runtime/host":                         {},
		"runtime/preset":                       {"."},
		"runtime/claude/claudetest":            {},
		"runtime/claude/claudetest/fakeclaude": {},
		"menu":                                 {"."},
		"sshd/command":                         {"."},
		"sshd":                                 {".", "menu", "sshd/command", "runtime"},
		"cmd/hitchpost": {".", "migrations", "hostkeys", "store", "store/local", "runtime", "runtime/tmux", "runtime/pty",
			"runtime/launch", "runtime/task", "runtime/git", "runtime/durable", "runtime/claude", "runtime/preset", "menu", "sshd",
			"sshd/command", "runtime/inside"},
		"cmd/hitchpost-bench": {},
		".ci/gotest":          {},
	}
}

// keptFrom lists, for each folder, what must stay out of its code, by prefix of the import path, and why.
func keptFrom() map[string]map[string]string {
	ssh := "it knows no SSH; sshd turns a channel into what it needs"
	return map[string]map[string]string{
		".": {"os": "the root is pure", "net": "the root is pure", "syscall": "the root is pure", "log": "the root is pure",
			"database": "the root is pure"},
		"menu": {"golang.org/x/crypto/ssh": ssh, "github.com/gliderlabs/ssh": ssh, "charm.land/ssh": ssh, "charm.land/wish": ssh,
			"github.com/jackc": "it asks the service, not the database"},
		"sshd":         {"github.com/jackc": "it asks the service, not the database", "os/exec": "processes are runtime's"},
		"sshd/command": {"github.com/jackc": "it asks the service, not the database", "os/exec": "processes are runtime's"},
		"runtime":      {"github.com/jackc": "SQL lives in store", "golang.org/x/crypto/ssh": ssh},
		"runtime/tmux": {"github.com/jackc": "SQL lives in store", "golang.org/x/crypto/ssh": ssh},
		"store":        {"os/exec": "outside work is runtime's, and nothing of it happens inside a transaction"},
	}
}

func TestImportsPointOneWay(t *testing.T) {
	t.Parallel()
	may, kept := mayImport(), keptFrom()
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		allowed, known := may[f.dir]
		if !known {
			t.Errorf("%s: folder %s is not in mayImport: decide there what it may import", f.name, f.dir)
			continue
		}
		for _, spec := range f.tree.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			if ours, ok := folderOf(imported); ok && !slices.Contains(allowed, ours) {
				t.Errorf("%s imports %s; %s may import only %v: declare the small interface it needs and let cmd/hitchpost join the two",
					f.at(spec), ours, f.dir, allowed)
			}
			for prefix, why := range kept[f.dir] {
				if imported == prefix || strings.HasPrefix(imported, prefix+"/") {
					t.Errorf("%s imports %s, which is kept out of %s: %s", f.at(spec), imported, f.dir, why)
				}
			}
		}
	}
}

// folderOf is the folder of one of our packages, and whether the import path is one of ours.
func folderOf(imported string) (string, bool) {
	if imported == module {
		return ".", true
	}
	return strings.CutPrefix(imported, module+"/")
}

func TestFoldersSayWhatTheyHold(t *testing.T) {
	t.Parallel()
	empty := []string{"util", "utils", "common", "helper", "helpers", "model", "models", "pkg", "misc", "lib"}
	for _, f := range sources(t) {
		for _, part := range strings.Split(f.dir, "/") {
			if slices.Contains(empty, part) {
				t.Errorf("%s: a folder called %q says nothing; name it by the noun it holds, or move the code to where it is used",
					f.name, part)
			}
		}
	}
}

// source is one Go file of ours.
type source struct {
	name string // with slashes, from the root
	dir  string // "." for the root
	test bool   // a test, or a package that only tests use
	set  *token.FileSet
	tree *ast.File
}

func (f source) line(p token.Pos) int { return f.set.Position(p).Line }

func (f source) at(n ast.Node) string { return fmt.Sprintf("%s:%d", f.name, f.line(n.Pos())) }

// sources reads every Go file of the module, those of other systems too.
func sources(t *testing.T) []source {
	t.Helper()
	set := token.NewFileSet()
	var files []source
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git" || d.Name() == "bin") {
			return fs.SkipDir
		}
		if d.IsDir() || filepath.Ext(name) != ".go" {
			return nil
		}
		tree, err := parser.ParseFile(set, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		dir := path.Dir(name)
		support := path.Base(dir) == path.Base(path.Dir(dir))+"test" // such as store/storetest
		files = append(files, source{name, dir, support || strings.HasSuffix(name, "_test.go"), set, tree})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if dirs := slices.Sorted(maps.Keys(mayImport())); len(files) < len(dirs) {
		t.Fatalf("read only %d files: is this the root of the module?", len(files))
	}
	return files
}
